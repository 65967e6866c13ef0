import { ConfigError } from '../../wire/errors.ts';

/** OUTPUT contains a secret. The lint has its name, never its value. */
export interface SecretLint {
  readonly code: 'LINT_SECRET_OUTPUT';
  /** Name of the secret. */
  readonly name: string;
}

/** The result of screening an OUTPUT. */
export interface Screened {
  /** OUTPUT, possibly with replacements. */
  readonly output: string;
  /** The secrets that were found, by name. */
  readonly lints: readonly SecretLint[];
}

/** Screens every OUTPUT before it is read for control, stored or returned to the agent. Progress events are not screened. */
export type OutputHook = (output: string) => Screened;

/** Fewest characters of a secret. Shorter texts would match too often. */
const MIN_SECRET = 8;
const NAME = /^[A-Za-z0-9_.-]+$/;

/**
 * Creates a hook that finds the values of secrets in OUTPUT and, with `redact`, replaces them by `<redacted:NAME>`. It finds
 * only unchanged values, not encoded, reversed or split ones, so it is a lint and not a protection. Throws {@link ConfigError}
 * (`ERR_CONFIG`) for values under eight characters and for names that could break a control line.
 */
export function secretHook(
  secrets: Readonly<Record<string, string>>,
  { redact = false }: { readonly redact?: boolean } = {},
): OutputHook {
  const known = Object.entries(secrets);
  for (const [name, value] of known) {
    if (!NAME.test(name)) throw new ConfigError('the name of a secret has letters, digits, _, . and - only');
    if (value.length < MIN_SECRET) throw new ConfigError(`the secret ${name} has fewer than ${MIN_SECRET} characters`);
  }
  // Longest first: a secret that contains another one is replaced as a whole.
  known.sort(([, a], [, b]) => b.length - a.length);
  return (output) => {
    const found = known.filter(([, value]) => output.includes(value));
    const lints = found.map(([name]): SecretLint => ({ code: 'LINT_SECRET_OUTPUT', name }));
    const screened = redact
      ? found.reduce((text, [name, value]) => text.replaceAll(value, () => `<redacted:${name}>`), output)
      : output;
    return { output: screened, lints };
  };
}
