// @module-tag slow
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COUNTED } from '../../src/sandbox/ledger.ts';
import { ATTACKS } from './attacks.ts';
import { REMOVALS, type Removal } from './removals.ts';

const SCRIPT = fileURLToPath(new URL('variant.ts', import.meta.url));
/** An attack on a host without the check may never end. */
const ENDLESS_MS = 15_000;

/** What an attack finds wrong with a build that lacks a check. */
function found(removal: Removal): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      ['--no-warnings', SCRIPT, JSON.stringify(removal)],
      { timeout: ENDLESS_MS },
      (error, stdout, stderr) => {
        if (stderr.includes('holds this') || stderr.includes('there is no attack')) reject(new Error(stderr));
        else resolve(error === null ? stdout : `it did not end well: ${error.signal ?? stderr}`);
      },
    );
  });
}

describe.concurrent('18: a build without one of the checks fails the harness', () => {
  it.each(REMOVALS)('$file, $attack: $text', { timeout: 300_000 }, async (removal) => {
    expect(await found(removal)).not.toBe('[]');
  });
});

it('18: every limit that the ledger counts has a build without it', () => {
  const attacks = new Set(REMOVALS.filter(({ file }) => file === 'src/sandbox/ledger.ts').map(({ attack }) => attack));
  const removed = new Set(ATTACKS.filter(({ name, ends }) => attacks.has(name) && ends.breach).map(({ limit }) => limit));
  expect(Object.keys(COUNTED).filter((limit) => !removed.has(limit as keyof typeof COUNTED))).toEqual([]);
});
