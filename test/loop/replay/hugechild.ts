/** Refuses foreign sessions and records with hundreds of thousands of mistakes each. The parent bounds its heap. */
import assert from 'node:assert/strict';
import type { TurnRecord } from '../../../src/loop/record/record.ts';
import { malformation } from '../../../src/loop/replay/check.ts';
import { readExport } from '../../../src/loop/replay/export.ts';
import { readRecord } from '../../../src/loop/sessions/rows.ts';
import { StoreError } from '../../../src/sqlite/error.ts';
import { defaultLimits } from '../../../src/wire/limits.ts';

const MISTAKES = 300_000;
const list = Array.from({ length: MISTAKES }, () => 0);
const map = Object.fromEntries(list.map((_, index) => [`k${index}`, index % 2 === 0 ? 'x' : []]));

const judged = { noProgressN: 2, clockSkew: 0, stopped: false, mintFailed: false, fresh: [], keys: [] };
const scene = {
  lints: [],
  unreadable: null,
  denied: null,
  host: null,
  run: null,
  judged: { progress: { digest: null, repeats: 0 }, ...judged },
};
const run = { sources: [], globals: {}, call: null, events: [], forkId: 'f', turn: true, stdin: false };
const whole = {
  ...{ version: 1, sid: 's', turn: 1, decision: 'DONE', startedAt: 0, candidates: [], output: '', scratchpad: '', error: null },
  usage: { fuel: 1, cpuMs: 1, wallMs: 1, peakMemoryBytes: 1, toolCalls: 0, outputBytes: 0, queueMs: 0 },
  inputs: { envelope: '', limits: defaultLimits('turn'), nonce: 'A'.repeat(22), clock: [], jtis: [], scene: { ...scene, run } },
  journal: [],
  seal: { prev: null, hash: '', parts: {} },
};
const at = { fork: 'f', source: 'a.ns', line: 1, column: 1 };
const call = { kind: 'tool', name: 'tool.a.B', args: [], seq: 1, at, begin: 0, ms: 1, outcome: { ok: true, value: 1 } };
const session = { sid: 's', status: 'open', reason: null, userdata: '', head: null, turns: [], redacted: [] };

/** Why a record is refused: when it is read, or when it is checked for a replay. */
const problemOf = (record: object): string | null => {
  let read: TurnRecord;
  try {
    read = readRecord(JSON.stringify({ ...whole, ...record }));
  } catch (error) {
    if (error instanceof StoreError) return error.message;
    throw error;
  }
  return malformation(read);
};
const withInputs = (inputs: object): object => ({ inputs: { ...whole.inputs, ...inputs } });
const withRun = (more: object): object => withInputs({ scene: { ...scene, run: { ...run, ...more } } });

assert.equal(problemOf({}), null);
assert.equal(problemOf({ journal: [call] }), null);

const records: readonly object[] = [
  { candidates: list },
  { journal: list },
  { journal: [{ ...call, args: list.map(() => ({ $num: 'six' })) }] },
  { journal: [{ ...call, asked: list }] },
  { error: { kind: 'runtime', code: 'NS1', nsCode: 1, name: '', message: '', source: null, line: 1, column: 1, stack: list } },
  withInputs({ clock: list.map(() => 'x') }),
  withInputs({ jtis: list }),
  withInputs({ limits: map }),
  withInputs({ scene: { ...scene, lints: list } }),
  withInputs({ scene: { ...scene, judged: { ...scene.judged, keys: list, fresh: list } } }),
  withRun({ sources: list }),
  withRun({ events: list }),
  withRun({ globals: list.map(() => ({ $num: 'six' })) }),
  withRun({ globals: Object.fromEntries(list.map((_, index) => [`k${index}`, { $num: 'six' }])) }),
];
for (const record of records) assert.match(problemOf(record) ?? 'none', /^it is malformed: | cannot be read: /);

const files: readonly object[] = [
  { sessions: list },
  { sessions: [{ ...session, turns: list }] },
  { sessions: [{ ...session, redacted: list }] },
  { sessions: [{ ...session, redacted: [{ turn: 1, parts: list }] }] },
];
for (const file of files) {
  const text = JSON.stringify({ format: 'neuroscript-sessions', version: 1, ...file });
  assert.throws(() => readExport(text), { code: 'ERR_EXPORT', message: /^it is not a file of sessions: / });
}
const deep = `{"format":"neuroscript-sessions","version":1,"sessions":${'['.repeat(100_000)}`;
assert.throws(() => readExport(deep), { code: 'ERR_EXPORT', message: 'it nests too deep, or has too many values' });
