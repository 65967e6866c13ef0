// @module-tag slow
import { spawnSync } from 'node:child_process';
import { appendFileSync, closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { HASH, ID, line, OTHER, queueWith } from './kit.ts';

const MB = 1024 * 1024;

/**
 * Asks the gate in its own process and reports how much memory that took. Linux counts in `maxRSS` what the process that started this one
 * had used before, so the peak comes from elsewhere where it can.
 */
const SCRIPT = `
  const { existsSync, readFileSync } = await import('node:fs');
  const status = '/proc/self/status';
  const peak = () =>
    1024 * Number(existsSync(status) ? /VmHWM:\\s+(\\d+) kB/.exec(readFileSync(status, 'utf8'))[1] : process.resourceUsage().maxRSS);
  const { checkEligibility } = await import(process.argv[1]);
  const [queue, intentId, hash] = process.argv.slice(2);
  const ask = (id) => checkEligibility({ intentId: id, hash, source: 'human' }, { queue, verifier: { command: 'true', args: [] } });
  const before = process.memoryUsage().rss;
  const begun = performance.now();
  const { line } = ask(intentId);
  const ms = performance.now() - begun;
  console.log(JSON.stringify({ line, ms, grown: peak() - before }));`;

/** Collects garbage early, in the thread that makes it: what nobody has collected yet is not what the gate needs. */
const EAGER = ['--max-semi-space-size=2', '--max-old-space-size=32', '--single-threaded-gc'];

function measured(queue: string): { readonly line: string; readonly ms: number; readonly grown: number } {
  const gate = new URL('../../src/gate/index.ts', import.meta.url).href;
  const { stdout } = spawnSync(process.execPath, [...EAGER, '-e', SCRIPT, gate, queue, ID, HASH], { encoding: 'utf8' });
  return JSON.parse(stdout);
}

describe('a large record of executions', () => {
  it('ARGO-4-4a: 100 MB are read to the end within seconds and 64 MB of memory', { timeout: 300_000 }, () => {
    const queue = queueWith();
    const file = openSync(join(queue, 'executed.jsonl'), 'w');
    const block = line({ id: OTHER }).repeat(6000);
    let bytes = 0;
    while (bytes < 100 * MB) bytes += writeSync(file, block);
    closeSync(file);
    appendFileSync(join(queue, 'executed.jsonl'), line());
    const found = measured(queue);
    expect(found.line).toMatch(/already executed at/);
    expect(found.grown).toBeLessThan(64 * MB);
    expect(found.ms).toBeLessThan(30_000);
    appendFileSync(join(queue, 'executed.jsonl'), '{"id":');
    expect(measured(queue).line).toMatch(/Malformed entry in executed queue \(line \d{6,}\)/);
  });
});
