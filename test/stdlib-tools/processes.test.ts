// @module-tag slow
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SqliteStorage } from '../../stdlib-tools/index.ts';
import { bundled } from '../bundled.ts';
import { tempFolder } from '../folder.ts';

const directory = tempFolder();

const INCREMENTER = await bundled(fileURLToPath(new URL('incrementer.ts', import.meta.url)));

interface Counted {
  readonly child: ChildProcess;
  /** The values that the storage acknowledged to this process; resolves when it has ended. */
  readonly values: Promise<readonly number[]>;
}

function count(file: string, times: number): Counted {
  const child = spawn(process.execPath, [INCREMENTER, file, String(times)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const values = new Promise<readonly number[]>((resolve) => {
    child.on('close', () => resolve(text.split('\n').slice(0, -1).map(Number)));
  });
  return { child, values };
}

async function stored(file: string): Promise<number> {
  using storage = await SqliteStorage.open(file);
  return Number((await storage.get('counter', 'n', 0))?.value ?? 0);
}

describe('a storage that processes share', () => {
  it('AL1-6-3: loses no update in 10,000 increments by 16 processes', { timeout: 300_000 }, async () => {
    const file = join(directory, 'shared.db');
    const counted = await Promise.all(Array.from({ length: 16 }, () => count(file, 625).values));
    expect(counted.map((values) => values.length)).toEqual(Array.from({ length: 16 }, () => 625));
    expect(new Set(counted.flat()).size).toBe(10_000);
    expect(await stored(file)).toBe(10_000);
  });

  it('loses nothing that was acknowledged when a writer is killed', { timeout: 300_000 }, async () => {
    const file = join(directory, 'killed.db');
    let acknowledged = 0;
    for (let round = 0; round < 12; round++) {
      const { child, values } = count(file, 1_000_000);
      child.stdout?.once('data', () => setTimeout(() => child.kill('SIGKILL'), (round * 7) % 40));
      const seen = await values;
      // The next value of the one before may have been written without having been acknowledged any more.
      expect(seen[0]).toBeGreaterThan(acknowledged);
      expect(seen[0]).toBeLessThanOrEqual(acknowledged + 2);
      expect(seen).toEqual(seen.map((_, index) => (seen[0] ?? 0) + index));
      acknowledged = seen.at(-1) ?? 0;
      expect([acknowledged, acknowledged + 1]).toContain(await stored(file));
    }
  });
});
