import { createHash } from 'node:crypto';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkEligibility, type Eligibility, type Verifier } from '../../src/gate/index.ts';
import { tempFolder } from '../folder.ts';

/** The example of seed 003, section 2. */
export const ID = 'b2831d73-2708-4f50-944b-7b54f11bfbb4';
export const HASH = 'd74524813b020264a1b9e1f35b9c01f2f5cd01233e1f48e0ce5a7f14d8d1a9b0';
export const OTHER = '11111111-2222-4333-8444-555555555555';
export const TIME = '2026-01-15T12:00:00Z';

export const OK = '[OK] Intent eligible for execution';

/** A line of one of the queue's files, as seed 003 section 5 writes it. */
export function line(fields: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ id: ID, timestamp: TIME, hash: HASH, ...fields })}\n`;
}

export function queueWith(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const path = tempFolder();
  for (const [name, content] of Object.entries(files)) writeFileSync(join(path, name), content);
  return path;
}

/** A verifier that records its arguments, one line per call, and then runs the shell script. */
export interface Stub extends Verifier {
  /** The arguments of every call. */
  readonly calls: () => string[][];
}

export function stub(script: string): Stub {
  const folder = tempFolder();
  const command = join(folder, 'verify');
  const log = join(folder, 'calls');
  writeFileSync(log, '');
  writeFileSync(command, `#!/bin/sh\nprintf '%s\\037' "$#" "$@" >> '${log}'; echo >> '${log}'\n${script}\n`);
  chmodSync(command, 0o755);
  const calls = (): string[][] =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((text) => text !== '')
      .map((text) => text.split('\u001f').slice(1, -1));
  return { command, args: [], calls };
}

/** Asks the gate about the example on behalf of a human. */
export function ask(queue: string, verifier: Verifier = stub('exit 0'), intentId: string = ID): Eligibility {
  return checkEligibility({ intentId, hash: HASH, source: 'human' }, { queue, verifier });
}

/** The names of all files in a folder, with digests of their contents. */
export function snapshot(folder: string): string[] {
  return readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${name} ${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}`,
    );
}
