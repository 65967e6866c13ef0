import type { TaggedJson } from '../../wire/protocol.ts';
import { isList } from '../../wire/tagged.ts';

/** Replaces a secret in a recording. */
export const REDACTED = '<redacted>';

/** The last words of names that hold secrets: `password`, `apiKey`, `access_token`, `Authorization`. */
const NAME =
  /(?:^|_)(?:password|passwd|passphrase|pwd|secret|token|api_?key|auth|authorization|cookie|credentials?|private_?key|secret_?key|access_?key|signing_?key|session_?id)$/;

/** Recognises secrets by their form. Each check takes linear time, because texts come from programs and tools. */
const FORMS: readonly ((text: string) => boolean)[] = [
  (text) => /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text),
  (text) => /\b(?:Bearer|Basic) [A-Za-z0-9._~+/=-]{8}/i.test(text),
  hasWebToken,
  hasPrefixedKey,
  (text) => /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|hf_)[A-Za-z0-9_-]{12}/.test(text),
  hasCredentialsInUrl,
];

/** Whether a text holds a JSON Web Token: three parts with dots between them, the first one beginning with `eyJ`. */
function hasWebToken(text: string): boolean {
  for (const [run] of text.matchAll(/[A-Za-z0-9_.-]+/g)) {
    const parts = run.split('.');
    for (let index = 0; index + 2 < parts.length; index += 1)
      if (/(?:^|-)eyJ[A-Za-z0-9_-]{5}/.test(parts[index] ?? '') && (parts[index + 1] ?? '').length >= 5) return true;
  }
  return false;
}

/** Whether a text holds a key with the prefix of its issuer, such as `sk-live-` and 16 letters or digits. */
function hasPrefixedKey(text: string): boolean {
  for (const [run] of text.matchAll(/[A-Za-z0-9_-]+/g)) {
    let prefixed = false;
    let start = 0;
    for (const segment of run.split(/[-_]/)) {
      if (prefixed && segment.length >= 16) return true;
      const begins = /^[spr]k$/.test(segment) && run[start - 1] !== '_';
      prefixed = begins || (prefixed && /^[a-z]+$/.test(segment));
      start += segment.length + 1;
    }
  }
  return false;
}

/** Whether a text holds an address with a user and a password in it. */
function hasCredentialsInUrl(text: string): boolean {
  for (const { index } of text.matchAll(/:\/\/[^\s/:@]+:[^\s/@]+@/g)) {
    let start = index;
    while (start > 0 && /[a-z0-9+.-]/i.test(text[start - 1] ?? '')) start -= 1;
    const scheme = text.slice(start, index);
    if (text[start - 1] === '_' ? /[+.-][a-z]/i.test(scheme) : /(?:^|[+.-])[a-z]/i.test(scheme)) return true;
  }
  return false;
}

/** Whether the value of a name is secret. Capital letters begin words. */
export function isSecretName(name: string): boolean {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/[^A-Za-z0-9]+/g, '_')
    .toLowerCase();
  return NAME.test(words);
}

/** A value without its secrets, and their number. Secrets are values of secret names and texts of a secret form. */
export function withoutSecrets(json: TaggedJson, name = ''): { readonly json: TaggedJson; readonly found: number } {
  let found = 0;
  const clean = (value: TaggedJson, key: string): TaggedJson => {
    if (value === null || typeof value === 'boolean') return value;
    if (isSecretName(key) || (typeof value === 'string' && FORMS.some((isSecret) => isSecret(value)))) {
      found++;
      return REDACTED;
    }
    if (typeof value !== 'object') return value;
    if (isList(value)) return value.map((item) => clean(item, ''));
    return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, clean(item, inner)]));
  };
  return { json: clean(json, name), found };
}
