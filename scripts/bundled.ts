/** The packages whose code the library contains. The others load when a program needs them, and few do. */
export const BUNDLED: readonly string[] = [
  '@noble/ed25519',
  '@noble/hashes',
  '@opentelemetry/api',
  'canonicalize',
  'chevrotain',
  'commander',
  'yaml',
  'zod',
];
