// @module-tag slow
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { historyOf } from '../../src/gate/history.ts';
import { tempFolder } from '../folder.ts';
import { numbered } from './numbered.ts';

/** Number of executors to kill. A thousand take minutes, so they must be requested (`GATE_KILLS=1000`). */
const KILLS = Number(process.env['GATE_KILLS'] ?? 32);
/** Executors in one process, each with its own queue. One kill hits all of them, each at a different step. */
const THREADS = 16;

const script = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

/** Starts the recording process, kills it `afterMs` after its first record, and returns its output. */
async function killed(first: number, queues: readonly string[], afterMs: number): Promise<string[]> {
  const child = spawn(process.execPath, [script('appender.ts'), String(first), ...queues], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let told = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (told === '') setTimeout(() => child.kill('SIGKILL'), afterMs);
    told += text;
  });
  const [code, signal] = await once(child, 'close');
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return told.split('\n').slice(0, -1);
}

describe('an executor that is killed', () => {
  it('ARGO-6-9: leaves a file that is complete or denies, and every record that it told of', { timeout: 300_000 }, async () => {
    const folder = tempFolder();
    const queues = Array.from({ length: THREADS }, (_, index) => join(folder, String(index)));
    for (const queue of queues) mkdirSync(queue);
    const path = (queue: string): string => join(queue, 'executed.jsonl');
    let before = queues.map(() => '');
    let torn = 0;
    const rounds = Math.ceil(KILLS / THREADS);
    for (let round = 0; round < rounds; round += 1) {
      const told = await killed(round * 1_000_000, queues, Math.random() * 40);
      expect(told.length).toBeGreaterThan(0);
      const after = queues.map((queue) => (existsSync(path(queue)) ? readFileSync(path(queue), 'utf8') : ''));
      for (const [index, queue] of queues.entries()) {
        const text = after[index] ?? '';
        expect(text.startsWith(before[index] ?? '')).toBe(true);
        const whole = text === '' || text.endsWith('\n');
        const state = historyOf(queue, numbered(999_999_999_999)).state;
        expect(state).toBe(whole ? 'not executed' : 'malformed');
        // The steps of a human after a crash: look, complete, unlock.
        if (!whole) torn += 1;
        if (!whole) writeFileSync(path(queue), text.slice(0, text.lastIndexOf('\n') + 1));
        rmSync(join(queue, 'executed.lock'), { force: true });
      }
      for (const line of told) {
        const [index = '', number = ''] = line.split(' ');
        expect(after[Number(index)]).toContain(`{"id":"${numbered(Number(number))}"`);
      }
      before = queues.map((queue) => (existsSync(path(queue)) ? readFileSync(path(queue), 'utf8') : ''));
    }
    // On a local disk a kill does not tear one small write; history.test.ts makes a torn line by hand.
    expect(torn).toBeLessThanOrEqual(KILLS);
  });
});

describe('two executors', () => {
  it('ARGO-9-2: of two that want the same intent at once exactly one runs', async () => {
    const folder = tempFolder();
    const queues = Array.from({ length: 60 }, (_, index) => join(folder, String(index)));
    for (const queue of queues) mkdirSync(queue);
    const go = join(folder, 'go');
    const children = ['a', 'b'].map((name) =>
      spawn(process.execPath, [script('contender.ts'), name, go, ...queues], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const told = children.map(() => '');
    await Promise.all(
      children.map(async (child, index) => {
        child.stdout.setEncoding('utf8').on('data', (text: string) => {
          told[index] += text;
        });
        await Promise.race([once(child.stdout, 'data'), once(child, 'exit')]);
      }),
    );
    writeFileSync(go, '');
    await Promise.all(children.map((child) => once(child, 'close')));
    expect(queues.map((queue) => readFileSync(join(queue, 'ran'), 'utf8').length)).toEqual(queues.map(() => 1));
    const states = told.map((text) => text.split('\n').slice(1, -1));
    for (const index of queues.keys()) expect(states.map((of) => of[index]).sort()).toEqual(['denied', 'executed']);
    for (const queue of queues) expect(readFileSync(join(queue, 'executed.jsonl'), 'utf8').split('\n')).toHaveLength(2);
  });
});
