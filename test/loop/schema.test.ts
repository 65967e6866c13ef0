import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { Keyring, NO_PROGRESS_YET } from '../../src/aeiou/index.ts';
import { LoopController } from '../../src/loop/controller.ts';
import { type Ids, seededIds, withNonce } from '../../src/loop/ids.ts';
import { HALT_REASONS } from '../../src/loop/record/decision.ts';
import { toPublicTurn } from '../../src/loop/record/record.ts';
import { toPublicLoop } from '../../src/loop/result.ts';
import { interruptedRecord } from '../../src/loop/sessions/interrupted.ts';
import { languageError } from '../../src/wire/errorinfo.ts';
import { BEGUN } from './begun.ts';
import { fakeExecutor, newKeyring, type Program, programAgent, reply, TestClock, USERDATA } from './fake.ts';
import { actions, bench, turnOf } from './harness.ts';

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const ajv = new Ajv2020({ strict: true, allowUnionTypes: true });
ajv.addSchema(
  [read('../../docs/schemas/turn.schema.json'), read('../../docs/schemas/loop.schema.json')].map((schema) => schema as object),
);

function problems(schema: 'turn' | 'loop', value: unknown): unknown {
  return ajv.validate(`${schema}.schema.json`, JSON.parse(JSON.stringify(value))) ? [] : ajv.errors;
}

const programs: Record<string, Program> = {
  done: async ({ emit, whisper, magic }) => {
    emit('finished');
    whisper('to myself');
    emit(await magic('done'));
  },
  continue: async ({ emit, magic }) => emit(await magic('continue')),
  silent: ({ emit }) => emit('no token'),
  fails: () => languageError(7, 'wrong type', { source: 'ACTIONS', line: 2, column: 5 }, 'write a number'),
};

/** The keys and inputs of vector T1 in protocol.md 10. */
const clock = new TestClock();
const keyring = new Keyring({ clock });
keyring.add({
  kid: 'ed25519-test-1',
  role: 'primary',
  alg: 'Ed25519',
  seed: Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex'),
});
keyring.add({
  kid: 'ed25519-fallback-1',
  role: 'fallback',
  alg: 'Ed25519',
  seed: Buffer.from('4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb', 'hex'),
});
const ids: Ids = { ...withNonce(seededIds(''), 'AAECAwQFBgcICQoLDA0ODw'), jti: () => '00000000-0000-4000-8000-000000000001' };
const T1 =
  '<<<NSMAG:V3:LOOP:eyJpc3N1ZWRfYXQiOjE3MjUwMTIzNDUsImp0aSI6IjAwMDAwMDAwLTAwMDAtNDAwMC04MDAwLTAwMDAwMDAwMDAwMSIsImtpZCI6ImVkMjU1MTktdGVzdC0xIiwia2luZCI6IkxPT1AiLCJwYXlsb2FkIjp7ImFjdGlvbiI6ImRvbmUifSwic2Vzc2lvbl9pZCI6InNpZC0xIiwidHRsIjoxMjAsInR1cm5faW5kZXgiOjEsInR1cm5fbm9uY2UiOiJBQUVDQXdRRkJnY0lDUW9MREEwT0R3IiwidiI6M30.VP31l3yPDpjdxHTenRAnMMg_4pdFCETjhrZnfeLv87IyLtZT8FNdrvP8ARjMdu1foLK5N8xaHCBYI5VfjLeVBg>>>';

describe('the public JSON of a turn', () => {
  it('is what the golden file says, with the token of vector T1', async () => {
    const { record } = await turnOf(bench(programs, { clock, keyring, ids }), 'done');
    expect(record.output).toBe(`finished\n${T1}\n`);
    expect(toPublicTurn(record)).toEqual(read('golden/turn.json'));
    expect(Object.keys(toPublicTurn(record))).toEqual(Object.keys(read('golden/turn.json') as object));
  });

  it.each(['done', 'continue', 'silent', 'fails'])('fits its schema: %s', async (program) => {
    const { record } = await turnOf(bench(programs), program);
    expect(problems('turn', toPublicTurn(record))).toEqual([]);
  });

  it('fits its schema when nothing ran', async () => {
    const { record } = await turnOf(bench(programs), 'done', { input: actions('two') });
    expect(problems('turn', toPublicTurn(record))).toEqual([]);
  });

  it('fits its schema when its process died', () => {
    const started = { ...BEGUN, turn: 2, reply: reply('program done') };
    const sections = { userdata: '{"subject":"s","fields":{}}', output: null, scratchpad: null };
    const state = {
      sid: 's',
      status: 'open',
      reason: null,
      message: null,
      ...sections,
      nextTurn: 2,
      agent: null,
      head: null,
      parent: null,
    } as const;
    const record = interruptedRecord(
      { ...state, progress: NO_PROGRESS_YET, spent: { fuel: 0, tokens: 0 } },
      started,
      'ERR_INTERRUPTED',
    );
    expect(problems('turn', toPublicTurn(record))).toEqual([]);
    expect(record.inputs.envelope).toContain('program done');
  });

  it('the schema refuses a reason without HALT, a HALT without one, and unknown keys', async () => {
    const turn = toPublicTurn((await turnOf(bench(programs), 'done')).record);
    expect(problems('turn', { ...turn, reason: 'ERR_QUOTA' })).not.toEqual([]);
    expect(problems('turn', { ...turn, decision: 'HALT' })).not.toEqual([]);
    expect(problems('turn', { ...turn, extra: 1 })).not.toEqual([]);
  });
});

describe('the public JSON of a session', () => {
  it.each([
    ['done', ['continue', 'done'], 25],
    ['out of turns', ['continue'], 2],
    ['failed', ['fails'], 25],
  ] as const)('fits its schema: %s', async (_, agent, maxTurns) => {
    const time = new TestClock();
    const loop = new LoopController({ executor: fakeExecutor(programs), keyring: newKeyring('test', time), clock: time });
    const result = await loop.runLoop({ userdata: USERDATA, agent: programAgent(...agent), maxTurns });
    expect(problems('loop', toPublicLoop(result))).toEqual([]);
    expect(Object.keys(toPublicLoop(result))).toEqual(['sid', 'decision', 'reason', 'output', 'error', 'turns']);
  });

  it('AL3-1-3: a turn has one of four decisions', () => {
    const schema = ajv.getSchema('turn.schema.json')?.schema;
    expect(schema).toMatchObject({ properties: { decision: { enum: ['CONTINUE', 'DONE', 'ABORT', 'HALT'] } } });
  });

  it('its reasons are all that there are', () => {
    const schema = ajv.getSchema('loop.schema.json')?.schema;
    expect(schema).toMatchObject({ properties: { reason: { enum: [...Object.keys(HALT_REASONS), null] } } });
  });
});

it('every reason has a page', () => {
  for (const reason of Object.keys(HALT_REASONS))
    expect(readFileSync(new URL(`../../docs/errors/${reason}.md`, import.meta.url), 'utf8')).toMatch(/^# ERR_/);
});
