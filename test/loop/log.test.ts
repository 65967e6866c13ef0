import { mkdir, readdir, readFile, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LoopController } from '../../src/loop/controller.ts';
import { seededIds } from '../../src/loop/ids.ts';
import { chained, GENESIS } from '../../src/loop/log/chain.ts';
import { FileLog } from '../../src/loop/log/filelog.ts';
import { type LogEntry, logEntry, MemoryLog } from '../../src/loop/log/log.ts';
import { Metrics } from '../../src/loop/metrics.ts';
import { tempFolder } from '../folder.ts';
import { fakeExecutor, newKeyring, type Program, programAgent, TestClock, USERDATA } from './fake.ts';
import { bench, turnOf } from './harness.ts';

const SECRET = 'SECRET-in-output-and-payload';
const programs: Record<string, Program> = {
  continue: async ({ emit, magic, context }) => {
    emit(`${SECRET} ${context.turnIndex}`);
    emit(await magic('continue', { request: { note: SECRET } }));
  },
  two: async ({ emit, magic }) => {
    const token = await magic('continue', { request: { note: SECRET } });
    emit(token);
    emit(token);
    emit('bye');
  },
  many: async ({ emit, magic }) => {
    emit(await magic('done'));
    emit(await magic('done'));
  },
  silent: ({ emit }) => emit(SECRET),
};

const MANDATORY = ['ts', 'SID', 'turn_index', 'decision', 'latency_ms', 'output_bytes', 'scratch_bytes'];
const OPTIONAL = ['reason', 'kid', 'jti', 'verification_failure_reason', 'overridden_decision'];

async function session(log: MemoryLog | FileLog, metrics = new Metrics()): Promise<void> {
  const clock = new TestClock();
  const loop = new LoopController({
    executor: fakeExecutor(programs),
    keyring: newKeyring('test', clock),
    clock,
    ids: seededIds('seed'),
    log,
    metrics,
  });
  await loop.runLoop({ userdata: USERDATA, agent: programAgent('continue', 'two', 'silent'), sid: 'sid-1' });
  await loop.runLoop({ userdata: USERDATA, agent: programAgent('many'), sid: 'sid-2' });
}

describe('the decision log', () => {
  it('A3-10-1 AL3-9-1: every turn has one entry with the mandatory keys, and none but the known ones', async () => {
    const log = new MemoryLog();
    await session(log);
    expect(log.entries).toHaveLength(4);
    for (const entry of log.entries) {
      expect(Object.keys(entry)).toEqual(expect.arrayContaining(MANDATORY));
      expect(Object.keys(entry).filter((key) => ![...MANDATORY, ...OPTIONAL].includes(key))).toEqual([]);
      expect(entry.ts).toBe('2024-08-30T10:05:45.000Z');
    }
    expect([await log.has('sid-2', 1), await log.has('sid-2', 3), await log.has('sid-3', 1)]).toEqual([true, false, false]);
  });

  it('A3-10-2: reason, kid, jti and verification_failure_reason appear when they apply (AMB-08)', async () => {
    const log = new MemoryLog();
    await session(log);
    const keysOf = (entry: LogEntry | undefined) => Object.keys(entry ?? {}).filter((key) => OPTIONAL.includes(key));
    expect(log.entries.map(keysOf)).toEqual([
      ['kid', 'jti'],
      ['kid', 'jti', 'verification_failure_reason'],
      ['reason'],
      ['kid', 'jti'],
    ]);
    expect(log.entries[1]?.verification_failure_reason).toBe('ERR_TOKEN_REPLAY');
    expect(log.entries[2]?.reason).toBe('ERR_TOKEN_MISSING');
  });

  it('sizes are the bytes of the streams', async () => {
    const says: Program = ({ emit, whisper }) => {
      emit('ä');
      whisper('xy');
    };
    const { record } = await turnOf(bench({ says }), 'says');
    expect(logEntry(record)).toMatchObject({ output_bytes: 3, scratch_bytes: 3 });
  });

  it('latency_ms has three decimals', async () => {
    const { record } = await turnOf(bench(programs), 'silent');
    expect(logEntry({ ...record, latencyMs: 1.23456 }).latency_ms).toBe(1.235);
  });

  it('holds no output, no payload and no nonce (threat 43)', async () => {
    const log = new MemoryLog();
    await session(log);
    const text = JSON.stringify(log.entries);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain(seededIds('seed').nonce('sid-1', 1));
    expect(text).not.toContain('NSMAG');
  });

  describe('in a file', () => {
    const folder = tempFolder();

    it('is one JSON line per decision, in order, for its owner only', async () => {
      const path = join(folder, 'decisions.jsonl');
      await session(new FileLog(path));
      const lines = (await readFile(path, 'utf8')).split('\n');
      expect(lines.pop()).toBe('');
      expect(lines.map((line) => JSON.parse(line).turn_index)).toEqual([1, 2, 3, 1]);
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    });

    it('answers only where there is room for the decisions of many turns, and leaves nothing behind', async () => {
      const [path, written] = [join(folder, 'probed.jsonl'), join(folder, 'written')];
      await symlink(written, `${path}.probe-${process.pid}`);
      await new FileLog(path).ping();
      expect((await stat(written)).size).toBeGreaterThanOrEqual(65_536);
      expect((await readdir(folder)).filter((name) => name.includes('probe'))).toEqual([]);
      await expect(new FileLog(join(folder, 'missing', 'log.jsonl')).ping()).rejects.toThrow('ENOENT');
    });

    it('reports what the file system refuses to the turn that meets it, and to it alone', async () => {
      const log = new FileLog(join(folder, 'later', 'log.jsonl'));
      const entry = logEntry((await turnOf(bench(programs), 'silent')).record);
      await expect(log.append(entry)).rejects.toThrow('ENOENT');
      await mkdir(join(folder, 'later'));
      await log.append(entry);
      expect(await readFile(join(folder, 'later', 'log.jsonl'), 'utf8')).toBe(`${chained(entry, GENESIS).text}\n`);
    });
  });
});

describe('metrics', () => {
  it('A3-10-3 A3-10-4 A3-10-6 A3-10-7 AL3-9-2: count decisions, failures by reason, duplicates and lints', async () => {
    const metrics = new Metrics();
    await session(new MemoryLog(), metrics);
    expect(metrics.snapshot()).toEqual({
      decisions_total: { CONTINUE: 2, HALT: 1, DONE: 1 },
      verify_fail_total: { ERR_TOKEN_REPLAY: 1 },
      ttl_expired_total: 0,
      jti_dup_total: 1,
      lint_total: { LINT_POST_TOKEN_TEXT: 1, LINT_MULTI_TOKENS: 1 },
      repairs_total: {},
      no_progress_total: 0,
      halts_total: { ERR_TOKEN_MISSING: 1 },
      agent_replies_total: { ok: 4 },
      cost_usd_total: {},
      agent_tokens_total: {},
      tool_calls_total: {},
      boundary_breaches_total: 0,
      tenant_refusals_total: 0,
      tool_retries_total: 0,
    });
  });

  it('A3-10-5 AL3-9-2: count expired tokens and guard halts', async () => {
    const metrics = new Metrics();
    const clock = new TestClock();
    const late: Program = async ({ emit, magic }) => {
      emit(await magic('done', {}, { ttl: 1 }));
      clock.ms += 5000;
    };
    const expired = (await turnOf(bench({ late }, { clock }), 'late')).record;
    metrics.record(expired);
    metrics.record({ ...expired, reason: 'ERR_NO_PROGRESS' });
    expect(metrics.snapshot()).toMatchObject({ ttl_expired_total: 2, no_progress_total: 1 });
  });
});
