import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ExecuteOnceOptions, executeOnce, QueueLock, recordApproved, recordExecuted } from '../../src/gate/index.ts';
import { ask, HASH, ID, line, OK, OTHER, queueWith, stub } from './kit.ts';

const NOW = Date.parse('2026-01-15T12:00:00Z');
const INTENT = { intentId: ID, hash: HASH };
const REQUEST = { ...INTENT, source: 'human' } as const;
const RECORD = `{"id":"${ID}","timestamp":"2026-01-15T12:00:00.000Z","hash":"${HASH}"}\n`;

const attempt = (state: string) => `${RECORD.slice(0, -2)},"state":"${state}"}\n`;
const read = (queue: string, name = 'executed.jsonl') => readFileSync(join(queue, name), 'utf8');

/** Executes the example and collects the lines for the human. */
async function execute(queue: string, work: () => Promise<unknown>, more: Partial<ExecuteOnceOptions> = {}) {
  const shown: string[] = [];
  const options = { queue, verifier: { command: 'true', args: [] }, now: () => NOW, show: (text: string) => shown.push(text) };
  return { result: await executeOnce(REQUEST, { ...options, ...more }, work), shown };
}

function record(queue: string, intentId = ID): void {
  const lock = new QueueLock(queue, NOW);
  try {
    recordExecuted(lock, { intentId, hash: HASH }, NOW);
  } finally {
    lock.release();
  }
}

describe('recording an execution', () => {
  it('ARGO-5-2: writes a line with exactly id, timestamp and hash', () => {
    const queue = queueWith();
    record(queue);
    expect(read(queue)).toBe(RECORD);
    expect(ask(queue).line).toBe('[ERROR] Intent already executed at 2026-01-15T12:00:00.000Z');
  });

  it('ARGO-5-3, ARGO-R3: only ever appends: what the file was is the beginning of what it becomes', () => {
    const queue = queueWith();
    let before = '';
    for (let number = 0; number < 50; number += 1) {
      record(queue, `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`);
      const after = read(queue);
      expect(after.startsWith(before)).toBe(true);
      expect(after.split('\n')).toHaveLength(number + 2);
      before = after;
    }
    const { ino } = statSync(join(queue, 'executed.jsonl'));
    record(queue);
    expect(statSync(join(queue, 'executed.jsonl')).ino).toBe(ino);
  });

  it.each([
    ['a line that was cut off', `${line({ id: OTHER })}{"id":`],
    ['a last line without its end', line({ id: OTHER }).trimEnd()],
    ['a line that is not a record', 'nonsense\n'],
    ['an incomplete record', line({ id: OTHER, hash: undefined })],
    ['the intent itself', line()],
    ['the intent in capitals', line({ id: ID.toUpperCase() })],
  ])('continues no file with %s, and repairs nothing', (_, content) => {
    const queue = queueWith({ 'executed.jsonl': content });
    expect(() => record(queue)).toThrow(expect.objectContaining({ code: 'ERR_GATE_RECORD' }));
    expect(read(queue)).toBe(content);
  });

  it('writes into no link, device or folder', () => {
    for (const make of [
      (path: string) => symlinkSync('/dev/null', path),
      (path: string) => symlinkSync(`${path}.elsewhere`, path),
      (path: string) => {
        writeFileSync(`${path}.real`, '');
        symlinkSync(`${path}.real`, path);
      },
      (path: string) => mkdirSync(path),
    ]) {
      const queue = queueWith();
      make(join(queue, 'executed.jsonl'));
      expect(() => record(queue)).toThrow(expect.objectContaining({ code: 'ERR_GATE_RECORD' }));
      expect(existsSync(join(queue, 'executed.jsonl.elsewhere'))).toBe(false);
    }
  });

  it('needs the lock, and notices that somebody took it away', () => {
    const queue = queueWith();
    const lock = new QueueLock(queue, NOW);
    rmSync(join(queue, 'executed.lock'));
    const theirs = new QueueLock(queue, NOW);
    expect(() => recordExecuted(lock, INTENT, NOW)).toThrow(/this process no longer holds the lock of the queue/);
    lock.release();
    expect(theirs.isHeld()).toBe(true);
  });

  it('refuses what is no UUID and no hash', () => {
    const lock = new QueueLock(queueWith(), NOW);
    for (const intent of [
      { ...INTENT, intentId: 'x' },
      { ...INTENT, hash: 'x' },
    ])
      expect(() => recordExecuted(lock, intent, NOW)).toThrow(
        expect.objectContaining({ name: 'ExecutorError', code: 'ERR_GATE_RECORD' }),
      );
  });

  it('a lock whose file is gone is held no more, and releasing it is no error', () => {
    const queue = queueWith();
    const lock = new QueueLock(queue, NOW);
    rmSync(join(queue, 'executed.lock'));
    expect(lock.isHeld()).toBe(false);
    lock.release();
    expect(() => recordExecuted(lock, INTENT, NOW)).toThrow(/no longer holds the lock/);
  });
});

describe('executing once', () => {
  it('ARGO-5-8, ARGO-I2: eligible → the work runs, and its success is one new line', async () => {
    const queue = queueWith();
    const { result, shown } = await execute(queue, async () => {
      expect(existsSync(join(queue, 'executed.jsonl'))).toBe(false);
      expect(read(queue, 'attempts.jsonl')).toBe(attempt('started'));
      expect(existsSync(join(queue, 'executed.lock'))).toBe(true);
      return 42;
    });
    expect(result).toEqual({ state: 'executed', value: 42 });
    expect(shown).toEqual([OK]);
    expect(read(queue)).toBe(RECORD);
    expect(read(queue, 'attempts.jsonl')).toBe(attempt('started') + attempt('executed'));
    expect(existsSync(join(queue, 'executed.lock'))).toBe(false);
  });

  it('ARGO-5-8: work that fails records nothing', async () => {
    const queue = queueWith({ 'executed.jsonl': line({ id: OTHER }) });
    const error = new Error('the tool failed');
    const { result } = await execute(queue, () => Promise.reject(error));
    expect(result).toEqual({ state: 'failed', error });
    expect(read(queue)).toBe(line({ id: OTHER }));
    expect(read(queue, 'attempts.jsonl')).toBe(attempt('started') + attempt('failed'));
  });

  it('ARGO-5-9: after a failure a human may try again', async () => {
    const queue = queueWith();
    await execute(queue, () => Promise.reject(new Error('the tool failed')));
    expect(ask(queue).line).toBe(OK);
    expect((await execute(queue, async () => 1)).result).toEqual({ state: 'executed', value: 1 });
    expect((await execute(queue, async () => 2)).result).toMatchObject({
      state: 'denied',
      verdict: { code: 'ERR_GATE_EXECUTED' },
    });
  });

  it('ARGO-I2: denied → nothing runs, the gate’s line is shown, and the queue is as it was', async () => {
    const queue = queueWith();
    const verifier = stub('exit 1');
    const { result, shown } = await execute(queue, () => Promise.reject(new Error('it ran')), { verifier });
    expect(result).toMatchObject({ state: 'denied', verdict: { eligible: false, code: 'ERR_GATE_NOT_APPROVED' } });
    expect(shown).toEqual(['[ERROR] Approval verification failed']);
    expect(verifier.calls()).toHaveLength(1);
    expect(['executed.lock', 'executed.jsonl', 'attempts.jsonl'].filter((name) => existsSync(join(queue, name)))).toEqual([]);
  });

  it('ARGO-I1: acts on the answer and never on its text', async () => {
    const { result } = await execute(queueWith(), async () => 1, { verifier: stub('echo "[ERROR] no"; exit 0') });
    expect(result.state).toBe('executed');
  });

  it('ARGO-9-2: one at a time: while one executes, another is denied, for any intent of the queue', async () => {
    const queue = queueWith();
    const inner = await execute(queue, async () => (await execute(queue, async () => 'both')).result);
    expect(inner.result).toMatchObject({
      state: 'executed',
      value: {
        state: 'denied',
        verdict: {
          code: 'ERR_GATE_LOCKED',
          line: expect.stringMatching(/^\[ERROR\] The queue cannot be locked: process \d+ has had it since 2026/),
        },
      },
    });
  });

  it('a lock whose holder is dead stays, and denies', async () => {
    for (const content of [line(), '', '{"pid":2147483646,"since":"2026-01-15T12:00:00.000Z"}\n']) {
      const queue = queueWith({ 'executed.lock': content });
      expect((await execute(queue, async () => 1)).result).toMatchObject({
        state: 'denied',
        verdict: { code: 'ERR_GATE_LOCKED' },
      });
      expect(read(queue, 'executed.lock')).toBe(content);
    }
  });

  it('an attempt that was started and never ended is refused until a human has said how it ended', async () => {
    const queue = queueWith({ 'attempts.jsonl': attempt('started').replace(ID, ID.toUpperCase()) });
    const { result, shown } = await execute(queue, async () => 1);
    expect(result).toMatchObject({ state: 'denied', verdict: { eligible: false, code: 'ERR_GATE_ATTEMPT' } });
    expect(shown).toEqual(['[ERROR] An attempt started at 2026-01-15T12:00:00.000Z, and its outcome is unknown']);
    writeFileSync(join(queue, 'attempts.jsonl'), attempt('started') + attempt('failed'));
    expect((await execute(queue, async () => 1)).result.state).toBe('executed');
  });

  it('attempts at other intents do not matter, a journal that cannot be read does', async () => {
    const others = attempt('started').replace(ID, OTHER);
    expect((await execute(queueWith({ 'attempts.jsonl': others }), async () => 1)).result.state).toBe('executed');
    const [undated, unhashed] = ['timestamp', 'hash'].map((key) => line({ id: OTHER, state: 'failed', [key]: undefined }));
    for (const content of [`{"id":`, line(), attempt('maybe'), '\n', undated, unhashed])
      expect((await execute(queueWith({ 'attempts.jsonl': `${others}${content}` }), async () => 1)).result).toMatchObject({
        state: 'denied',
        verdict: { code: 'ERR_GATE_ATTEMPT', line: '[ERROR] Attempts.jsonl cannot be read: line 2 is not a record' },
      });
  });

  it('an execution that cannot be recorded is told loudly, and keeps the lock', async () => {
    const queue = queueWith();
    const spoil = async () => writeFileSync(join(queue, 'executed.jsonl'), '{"id":');
    await expect(execute(queue, spoil)).rejects.toMatchObject({ code: 'ERR_GATE_RECORD' });
    expect(existsSync(join(queue, 'executed.lock'))).toBe(true);
    expect((await execute(queue, async () => 1)).result).toMatchObject({ state: 'denied', verdict: { code: 'ERR_GATE_LOCKED' } });
    rmSync(join(queue, 'executed.lock'));
    expect((await execute(queue, async () => 1)).result).toMatchObject({
      state: 'denied',
      verdict: { code: 'ERR_GATE_ATTEMPT' },
    });
  });

  it('nothing runs that could not be written down before', async () => {
    const queue = queueWith({ 'attempts.jsonl': line({ id: OTHER, state: 'failed' }).trimEnd() });
    const { result } = await execute(queue, () => Promise.reject(new Error('it ran')));
    expect(result).toMatchObject({ state: 'denied', verdict: { code: 'ERR_GATE_RECORD' } });
    expect(existsSync(join(queue, 'executed.lock'))).toBe(false);
  });

  it('an error of the caller is thrown as it is: it denies nothing', async () => {
    const broken = new Error('no clock');
    const now = (): never => {
      throw broken;
    };
    await expect(execute(queueWith(), async () => 1, { now })).rejects.toBe(broken);
  });

  it('nothing runs when the human cannot be shown the answer', async () => {
    const queue = queueWith();
    const show = (): never => {
      throw new Error('the screen is gone');
    };
    let ran = false;
    const work = async () => {
      ran = true;
    };
    await expect(execute(queue, work, { show })).rejects.toThrow('the screen is gone');
    expect(ran).toBe(false);
    expect(existsSync(join(queue, 'executed.lock'))).toBe(false);
  });
});

describe('what plain JavaScript can pass', () => {
  const call = (...given: readonly unknown[]) => Reflect.apply(executeOnce, undefined, given);
  const never = (): never => {
    throw new Error('it ran');
  };

  it('executeOnce denies a call in which something is missing or wrong, says what, and leaves the queue as it was', async () => {
    const queue = queueWith({ 'attempts.jsonl': attempt('failed') });
    const shown: string[] = [];
    const options = { queue, verifier: { command: 'true', args: [] }, show: (text: string) => shown.push(text) };
    for (const request of [undefined, null, 7, {}, { ...REQUEST, intentId: undefined }, { ...REQUEST, hash: 7 }])
      expect(await call(request, options, never)).toMatchObject({ state: 'denied', verdict: { code: 'ERR_GATE_INPUT' } });
    for (const [given, work, detail] of [
      [undefined, never, 'the option queue is missing'],
      [null, never, 'the option queue is missing'],
      [{ ...options, queue: 7 }, never, 'the option queue is missing'],
      [{ ...options, verifier: undefined }, never, 'the option verifier is missing'],
      [{ ...options, show: undefined }, never, 'the option show is missing'],
      [{ ...options, now: NOW }, never, 'the option now must be a function'],
      [options, undefined, 'the work is missing'],
    ])
      expect(await call(REQUEST, given, work)).toMatchObject({
        state: 'denied',
        verdict: { code: 'ERR_GATE_FAILURE', detail: expect.stringContaining(String(detail)) },
      });
    expect(await call()).toMatchObject({ state: 'denied', verdict: { eligible: false, code: 'ERR_GATE_INPUT' } });
    expect(shown).toContain('[ERROR] No request: it needs intentId, hash and source');
    expect(readdirSync(queue)).toEqual(['attempts.jsonl']);
    expect(read(queue, 'attempts.jsonl')).toBe(attempt('failed'));
  });

  it('executeOnce records the intent that it asked about, whatever the work does to the request', async () => {
    const queue = queueWith();
    const request = { intentId: ID, hash: HASH, source: 'human' };
    const verifier = { command: 'true', args: [] };
    const work = async () => Object.assign(request, { intentId: OTHER });
    expect(await call(request, { queue, verifier, now: () => NOW, show: () => {} }, work)).toMatchObject({ state: 'executed' });
    expect(read(queue)).toBe(RECORD);
    expect(read(queue, 'attempts.jsonl')).toBe(attempt('started') + attempt('executed'));
  });

  it('approving, recording and locking refuse it with an error of theirs', () => {
    const queue = queueWith();
    const lock = new QueueLock(queue, NOW);
    const refuses = (code: string, act: (...given: readonly never[]) => unknown, calls: readonly (readonly unknown[])[]) => {
      for (const given of calls)
        expect(() => Reflect.apply(act, undefined, given), JSON.stringify(given)).toThrow(
          expect.objectContaining({ name: 'ExecutorError', code }),
        );
    };
    const untimed = [undefined, null, '2026', Number.NaN, 1e300];
    refuses('ERR_GATE_RECORD', recordApproved, [[], [queue], [queue, null, NOW], [queue, {}, NOW], [undefined, 'x', NOW]]);
    refuses('ERR_GATE_RECORD', recordExecuted, [[], [lock], [lock, null, NOW], [null, INTENT, NOW], [{}, INTENT, NOW]]);
    refuses(
      'ERR_GATE_RECORD',
      recordExecuted,
      untimed.map((now) => [lock, INTENT, now]),
    );
    refuses('ERR_GATE_LOCKED', recordApproved, [[7, INTENT, NOW], ...untimed.map((now) => [queue, INTENT, now])]);
    const locks = (...given: readonly never[]) => Reflect.construct(QueueLock, given);
    refuses('ERR_GATE_LOCKED', locks, [[], [null, NOW], [queue, NOW, 7], ...untimed.map((now) => [queue, now, 'other.lock'])]);
    lock.release();
    expect(readdirSync(queue)).toEqual([]);
  });
});

describe('recording an approval', () => {
  it('refuses what is no UUID and no hash', () => {
    const queue = queueWith();
    for (const intent of [
      { ...INTENT, intentId: 'x' },
      { ...INTENT, hash: 'x' },
    ])
      expect(() => recordApproved(queue, intent, NOW)).toThrow(expect.objectContaining({ code: 'ERR_GATE_RECORD' }));
    expect(existsSync(join(queue, 'approved.jsonl'))).toBe(false);
  });

  it('appends what the gate’s verifier reads', () => {
    const queue = queueWith();
    recordApproved(queue, INTENT, NOW);
    recordApproved(queue, { ...INTENT, intentId: OTHER }, NOW);
    expect(read(queue, 'approved.jsonl')).toBe(RECORD + RECORD.replace(ID, OTHER));
  });

  it('an approval is given once and never changed', () => {
    const queue = queueWith();
    recordApproved(queue, INTENT, NOW);
    for (const hash of [HASH, 'f'.repeat(64)])
      expect(() => recordApproved(queue, { intentId: ID.toUpperCase(), hash }, NOW)).toThrow(/approved before/);
    expect(read(queue, 'approved.jsonl')).toBe(RECORD);
    expect(existsSync(join(queue, 'approved.lock'))).toBe(false);
  });
});
