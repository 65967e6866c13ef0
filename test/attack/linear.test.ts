import { describe, expect, it } from 'vitest';
import { isSecretName, withoutSecrets } from '../../src/tools/mock/secrets.ts';
import { safeName } from '../../stdlib-tools/fs/path.ts';

/**
 * What the host does with a program's texts takes time in proportion to them. Each case gives a text of a size that its function
 * would need minutes for if its time were quadratic.
 */
const UNITS = 400_000;
const BOUND_MS = 2_000;

interface Case {
  readonly name: string;
  readonly work: (text: string) => unknown;
  readonly text: (units: number) => string;
}

const repeat =
  (piece: string, end = '') =>
  (units: number): string =>
    piece.repeat(Math.ceil(units / piece.length)) + end;
const secrets = (text: string): unknown => withoutSecrets(text);

const CASES: readonly Case[] = [
  { name: 'SanitizeFilename, dots before a letter', work: safeName, text: (units) => `a${'.'.repeat(units)}a` },
  { name: 'SanitizeFilename, bad characters', work: safeName, text: repeat('?', 'a') },
  { name: 'a recording: beginnings of web tokens', work: secrets, text: repeat('eyJ-') },
  { name: 'a recording: first parts of web tokens', work: secrets, text: repeat('eyJabcde-.') },
  { name: 'a recording: prefixes of keys', work: secrets, text: repeat('sk-a-') },
  { name: 'a recording: beginnings of addresses', work: secrets, text: repeat('a.') },
  { name: 'a recording: addresses without an end', work: secrets, text: repeat('a://a:') },
  { name: 'a recording: beginnings of private keys', work: secrets, text: repeat('-----BEGIN A PRIVATE KEY') },
  { name: 'a recording: names of arguments', work: isSecretName, text: repeat('_aB') },
  { name: 'a recording: names of separators', work: isSecretName, text: repeat('__') },
];

describe("the host's work on a program's text is linear", () => {
  it.each(CASES)('$name', ({ work, text }) => {
    expect(cpuMs(() => work(text(UNITS)))).toBeLessThan(BOUND_MS);
  });
});

/** CPU milliseconds that some work takes. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}
