import type { TaggedJson } from '../../wire/protocol.ts';

/** What stands in a recording in place of a secret. */
export const REDACTED = '<redacted>';

/** The last words of names that hold secrets: `password`, `apiKey`, `access_token`, `Authorization`. */
const NAME =
  /(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|api_?key|auth|authorization|cookie|credentials?|private_?key|secret_?key|access_?key|signing_?key|session_?id)$/;

/** Texts that are secrets by their form, whatever they are called. */
const FORMS: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\b(?:Bearer|Basic) [A-Za-z0-9._~+/=-]{8,}/i,
  // A JSON Web Token.
  /\beyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]*/,
  // Keys with the prefix of their issuer.
  /\b(?:sk|pk|rk)[-_](?:[a-z]+[-_])*[A-Za-z0-9]{16,}/,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|hf_)[A-Za-z0-9_-]{12,}/,
  // A user and a password within an address.
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
];

/** Whether a name says that what it names is secret. Capital letters begin words. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return NAME.test(words);
}

/** A value without its secrets, and how many there were: what secret names hold, and texts of a secret form. */
export function withoutSecrets(json: TaggedJson, name = ''): { readonly json: TaggedJson; readonly found: number } {
  let found = 0;
  const clean = (value: TaggedJson, key: string): TaggedJson => {
    if (value === null || typeof value === 'boolean') return value;
    if (isSecretName(key) || (typeof value === 'string' && FORMS.some((form) => form.test(value)))) {
      found++;
      return REDACTED;
    }
    if (typeof value !== 'object') return value;
    if (isList(value)) return value.map((item) => clean(item, ''));
    return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, clean(item, inner)]));
  };
  return { json: clean(json, name), found };
}

function isList(value: TaggedJson): value is readonly TaggedJson[] {
  return Array.isArray(value);
}
