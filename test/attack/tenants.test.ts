// @module-tag slow
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { descendants, residence } from '../../bench/residence.ts';
import { type LimitOptions, Sandbox } from '../../src/sandbox/index.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { HOLED, handlers, inputOf, OK } from '../sandbox/input.ts';

/** `npm run prove tenants` takes ten minutes. */
const SECONDS = Number(process.env['TENANTS_SECONDS'] ?? 15);
const TENANTS = ['acme', 'globex', 'initech'] as const;
const MB = 1024 * 1024;
/** Milliseconds between two looks at the memory of the workers. */
const LOOK_MS = 250;

/** Of so many rounds of an attacker, one has a deed that does more than to leave something. */
const QUIET = 5;

/** What an attacker does who runs JavaScript in the isolate of its tenant, and the limits of its run. */
const DEEDS: readonly (readonly [deed: string, globals?: Record<string, TaggedJson>, limits?: LimitOptions])[] = [
  ['leave'],
  ['grow', { mb: 2 }],
  ['grow', { mb: 20 }],
  ['throws'],
  ['recursion'],
  ['garbage'],
  ['hoard', {}, { memoryBytes: 8 * MB }],
  ['text', {}, { memoryBytes: 8 * MB, cpuMs: 200 }],
  ['spin', {}, { cpuMs: 50 }],
  ['insist'],
  ['raw', { frames: ['{"t":"result"}', '{"t":"hello"}'] }],
  ['fails', { kind: 'runtime', code: 'NS9', nsCode: 9 }],
  ['fails', { kind: 'quota', code: 'ERR_QUOTA', nsCode: null }],
];

it(`attackers of three tenants, who leave what they can in isolates that are kept, for ${SECONDS} s: nobody finds anything of another, and the workers do not grow`, {
  timeout: (SECONDS + 60) * 1000,
}, async () => {
  await using sandbox = await Sandbox.create({ isolation: 'tenant', concurrency: 2, files: HOLED });
  const end = performance.now() + SECONDS * 1000;
  const wrong: string[] = [];
  const seen = { own: 0, turns: 0 };
  const lane = async (id: string, first: number): Promise<void> => {
    for (let count = first; performance.now() < end; count++) {
      const act = async (deed: string, globals: Record<string, TaggedJson> = {}, limits: LimitOptions = {}) => {
        seen.turns++;
        const on = handlers(async () => OK);
        return (await sandbox.run(inputOf(deed, globals, { toolCalls: 50, ...limits }), { ...on, tenant: { id, share: 1 } }))
          .result;
      };
      await act('mark', { name: id });
      // Most deeds cost a worker, and without workers nobody finds anything.
      const [deed = 'leave', globals, limits] = count % QUIET === 0 ? (DEEDS[(count / QUIET) % DEEDS.length] ?? []) : [];
      await act(deed, globals, limits);
      const { result: marks } = await act('marks');
      const { result: found } = await act('find');
      const { result: echo } = await act('echo', { value: `${id} ${count}` });
      if (!Array.isArray(marks) || marks.some((mark) => mark !== id))
        wrong.push(`${id} after ${deed} finds the marks ${JSON.stringify(marks)}`);
      else seen.own += marks.length;
      // The last one is what the stand-in for the interpreter has itself.
      const traces = JSON.stringify(Array.isArray(found) ? found.slice(0, -1) : found);
      if (traces !== UNTOUCHED) wrong.push(`${id} after ${deed} finds a changed realm: ${traces}`);
      if (echo !== `${id} ${count}`) wrong.push(`${id} after ${deed} gets ${JSON.stringify(echo)}`);
    }
  };
  const sizes: number[] = [];
  const look = async (): Promise<void> => {
    for (; performance.now() < end; await pause(LOOK_MS)) sizes.push(workerBytes());
  };
  await Promise.all([look(), ...TENANTS.map((id, index) => lane(id, index * QUIET * 4))]);
  expect(wrong.slice(0, 5)).toEqual([]);
  // Isolates were kept: their own marks were found.
  expect(seen.own).toBeGreaterThan(seen.turns / 20);
  // Attackers end workers, so that their number changes from look to look.
  const third = Math.floor(sizes.length / 3);
  const [early, late] = [Math.max(...sizes.slice(0, third)), median(sizes.slice(-third))];
  expect({ early, late, flat: late <= early * 1.1 }).toEqual({ early, late, flat: true });
});

const UNTOUCHED = JSON.stringify([...['undefined', 'undefined', 'undefined', 1, 2, 'a', 'undefined', 'undefined']]);

function workerBytes(): number {
  let sum = 0;
  for (const pid of descendants()) {
    try {
      sum += residence(pid).now || 0;
    } catch {
      // It has ended since it was listed.
    }
  }
  return sum;
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;
