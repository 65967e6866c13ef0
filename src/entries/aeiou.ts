/**
 * The AEIOU v3 protocol: envelopes, keys, tokens, decisions and the JSON that they sign. It runs wherever JavaScript does; only key files
 * need Node (`loadKeyFile`, `loadVerifyKeys`, `saveKeyFile`). Entry point `neuroscript-runtime/aeiou`.
 */

export * from '../aeiou/public.ts';
