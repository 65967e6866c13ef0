import { expect, it } from 'vitest';
import { OpenCall } from '../../src/sandbox/call.ts';
import { timeoutError } from '../../src/wire/errorinfo.ts';
import type { HostFrame } from '../../src/wire/protocol.ts';

const LATE = timeoutError({ limit: 'wallMs', allowed: 1, used: 2 }, 'too late');

/** A call whose deadline passes just after it was checked for the given number of times. */
function callLateAfter(checks: number) {
  const sent: HostFrame[] = [];
  let left = checks;
  const open: OpenCall = new OpenCall(
    (frame) => sent.push(frame),
    () => {},
    () => null,
    () => {
      if (--left < 0) open.halt(LATE);
    },
  );
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
