import { ConfigError } from '../../wire/errors.ts';

/** A secret stands in OUTPUT. Its name, never its value. */
export interface SecretLint {
  readonly code: 'LINT_SECRET_OUTPUT';
  readonly name: string;
}

/** What a hook made of an OUTPUT. */
export interface Screened {
  readonly output: string;
  readonly lints: readonly SecretLint[];
}

/** Looks at every OUTPUT before it is read for control, kept or fed back (AL1-2.11-2); progress events are not screened. */
export type OutputHook = (output: string) => Screened;

/** Shorter texts would be found everywhere. */
const MIN_SECRET = 8;
const NAME = /^[A-Za-z0-9_.-]+$/;

/**
 * A hook that finds the values of secrets in OUTPUT; with `redact` it also puts `<redacted:NAME>` in their place. It finds
 * a value as it is, not what a program made of it (encoded, reversed, cut in two): a lint, not a wall. Throws
 * {@link ConfigError} (`ERR_CONFIG`) for values under eight characters and for names that could break a control line.
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
  // A secret that contains another one goes first, so that nothing of it is left.
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
