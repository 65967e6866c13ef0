import { expect, it } from 'vitest';
import { OpenCall } from '../../src/sandbox/call.ts';
import { timeoutError } from '../../src/wire/errorinfo.ts';
import type { HostFrame } from '../../src/wire/hostframes.ts';

const LATE = timeoutError({ limit: 'wallMs', allowed: 1, used: 2 }, 'too late');

/** A call whose deadline passes just after it was checked for the given number of times. */
function callLateAfter(checks: number) {
  const sent: HostFrame[] = [];
  let left = checks;
  const open: OpenCall = new OpenCall({
    send: (frame) => void sent.push(frame),
    closed: () => {},
    expire: () => {
      if (--left < 0) open.halt(LATE);
    },
  });
  return { open, sent };
}

it('an answer that was accepted in time reaches the script, although the deadline passes before it is sent', () => {
  const { open, sent } = callLateAfter(1);
  expect([open.accept(), open.over]).toEqual([true, false]);
  open.reply({ t: 'ok', value: 1 });
  expect(sent).toEqual([{ t: 'ok', value: 1 }]);
});

it('an answer that is late when it is accepted never reaches the script', () => {
  const { open, sent } = callLateAfter(0);
  expect([open.accept(), open.over]).toEqual([false, true]);
  open.reply({ t: 'ok', value: 1 });
  expect(sent).toEqual([{ t: 'halt', error: LATE }]);
});

/** A call without deadlines, and what it sends and does at its end. */
function openCall() {
  const sent: HostFrame[] = [];
  const closed: unknown[] = [];
  const open = new OpenCall({ send: (frame) => void sent.push(frame), closed: (reply) => void closed.push(reply) });
  return { open, sent, closed };
}
const found = (value: number) => ({ t: 'var', found: true, value, error: null }) as const;
const ANSWER = { t: 'ok', value: 1 } as const;

it('puts one question after the other, and sends the answer of the call after the last', async () => {
  const { open, sent, closed } = openCall();
  const answers = [open.getVar('a'), open.getVar('b')];
  expect(sent).toEqual([{ t: 'var.get', name: 'a' }]);
  open.reply(ANSWER);
  open.reply({ t: 'ok', value: 2 });
  expect([sent.length, closed.length]).toEqual([1, 0]);
  expect(open.answered(found(7))).toBe(true);
  expect(sent.slice(1)).toEqual([{ t: 'var.get', name: 'b' }]);
  expect(open.answered(found(8))).toBe(true);
  expect([sent.slice(2), closed]).toEqual([[ANSWER], [ANSWER]]);
  expect(await Promise.all(answers)).toEqual([
    { found: true, value: 7 },
    { found: true, value: 8 },
  ]);
  expect(open.queries).toEqual([
    { t: 'var.get', name: 'a' },
    { t: 'var.get', name: 'b' },
  ]);
  expect(open.answered(found(9))).toBe(false);
  await expect(open.getVar('c')).rejects.toThrow('the call is over');
});

it('sends an answer at once when no question is open, and one alone', () => {
  const { open, sent, closed } = openCall();
  open.reply(ANSWER);
  open.reply({ t: 'ok', value: 2 });
  open.halt(LATE);
  open.lost(LATE);
  expect([sent, closed]).toEqual([[ANSWER], [ANSWER]]);
});

it('ends with questions open after the answer to the first, and gives up the others', async () => {
  const { open, sent } = openCall();
  const [first, second] = [open.getVar('a'), open.getVar('b')];
  open.halt(LATE);
  await expect(second).rejects.toThrow('the call is over');
  expect(sent).toHaveLength(1);
  open.answered(found(7));
  expect(await first).toEqual({ found: true, value: 7 });
  expect(sent.slice(1)).toEqual([{ t: 'halt', error: LATE }]);
});

it('tells who waits for its end of that end alone, and once', () => {
  const { open } = openCall();
  let told = 0;
  const forget = open.whenOver(() => (told += 10));
  open.whenOver(() => (told += 1));
  forget();
  expect(told).toBe(0);
  open.halt(LATE);
  expect(told).toBe(1);
  open.whenOver(() => (told += 100));
  expect(told).toBe(101);
});

it('sends nothing when the worker is gone, and gives up every question', async () => {
  const { open, sent, closed } = openCall();
  const question = open.getVar('a');
  open.lost(LATE);
  await expect(question).rejects.toThrow('the call is over');
  open.reply(ANSWER);
  expect([sent.length, closed, open.over]).toEqual([1, [], true]);
});

it('goes on to its answer after the worker is gone, sends nothing, and fails every question', async () => {
  const { open, sent, closed } = openCall();
  const question = open.getVar('a');
  open.outlive();
  await expect(question).rejects.toThrow('the call is over');
  await expect(open.getVar('b')).rejects.toThrow('the call is over');
  expect([open.over, closed]).toEqual([false, []]);
  expect(open.accept()).toBe(true);
  open.reply(ANSWER);
  expect([sent.length, closed]).toEqual([1, [ANSWER]]);
});
