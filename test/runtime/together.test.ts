import { describe, expect, it } from 'vitest';
import type { Completion } from '../../src/tools/index.ts';
import { Random } from '../fuzz/random.ts';
import { afterCrash, afterWait, permuted, steady, visible } from './permuted.ts';

/** `npm run prove` sets a hundred thousand. */
const SEEDS = Number(process.env['TOGETHER_SEEDS'] ?? 200);
/** Seeds whose first run is cut, so that every crash point and order of completion occurs. */
const CUTS = Math.ceil(SEEDS / 5);
/** Milliseconds, for a machine that is slow and busy. */
const timeout = 30_000 + SEEDS * 100;

const PROGRAM = `command
  set seen = {'a': 1}
  set from = tool.t.Echo('before')
  together
    set a = tool.t.Echo(from + ' a')
    set seen['b'] = tool.t.Read('from')
    set c, d = tool.t.Echo([1, 2])
    call tool.t.Outer('o')
    set e = tool.t.Echo('e')
  endtogether
  emit [a, seen, c, d, e]
  set out = []
  for each i, n in ['x', 'y', 'bad', 'z', 'bad'] together
    set out[i] = tool.t.Echo(n)
    set seen[n] = tool.t.Outer(n)
  endfor
  emit out
  emit seen
  emit tool.t.Echo('after')
  on error do
    emit system_error.message + ' at line ' + system_error.line
    clear_error
  endon
endcommand
`;

const WAITING = `command
  set out = []
  for each i, n in ['p', 'q', 'r', 's'] together
    set out[i] = tool.t.Echo(n)
    set out[i + 4] = tool.t.Later(n)
  endfor
  emit out
  emit tool.t.Echo('after')
endcommand
`;

describe('calls that run together', { timeout }, () => {
  it(`give equal output, fuel and journal for ${SEEDS} orders of completion`, async () => {
    const first = await permuted(PROGRAM, new Random(0));
    expect(first.result.error).toBeNull();
    const expected = JSON.stringify(visible(first.result));
    const orders = new Set<string>();
    for (let seed = 1; seed <= SEEDS; seed++) {
      const run = await permuted(PROGRAM, new Random(seed));
      if (JSON.stringify(visible(run.result)) !== expected)
        expect(visible(run.result), `seed ${seed}`).toEqual(visible(first.result));
      orders.add(run.ended.map(({ seq }) => seq).join(' '));
    }
    expect(orders.size).toBeGreaterThan(SEEDS / 2);
    expect(first.begun.slice(0, 4)).toEqual(['echo before', 'echo before a', 'echo 1,2', 'outer o']);
  });

  it('are replayed from the journal without a call', async () => {
    const original = await permuted(PROGRAM, new Random(7));
    const replayed = await afterCrash(PROGRAM, original.input, original.result.journal, new Random(8));
    expect(visible(replayed.result)).toEqual(visible(original.result));
    expect(replayed.begun).toEqual([]);
  });

  it(`lose and repeat nothing that had ended when the process died between any two completions, for ${CUTS} orders`, async () => {
    const { result } = await permuted(PROGRAM, new Random(0));
    const expected = JSON.stringify(visible(result));
    for (let seed = 1; seed <= CUTS; seed++) {
      const random = new Random(seed);
      const whole = await permuted(PROGRAM, random);
      const stored = whole.ended.slice(0, random.int(whole.ended.length + 1));
      const rest = await afterCrash(PROGRAM, whole.input, stored, random);
      if (JSON.stringify(visible(rest.result)) !== expected)
        expect(visible(rest.result), `seed ${seed}`).toEqual(visible(result));
      const again = rest.ended.filter(({ seq }) => stored.some((entry) => entry.seq === seq));
      expect(again.map(({ outcome }) => outcome)).toEqual(
        again.map(({ seq }) => stored.find((entry) => entry.seq === seq)?.outcome),
      );
      const topLevel = rest.begun.filter((call) => !String(call).includes(' inside'));
      expect(topLevel).toHaveLength(whole.ended.length - stored.length);
    }
  });

  it('lose and repeat nothing at each of the places where the process of one order can die', async () => {
    const whole = await permuted(PROGRAM, new Random(3));
    for (let count = 0; count <= whole.ended.length; count++) {
      const rest = await afterCrash(PROGRAM, whole.input, whole.ended.slice(0, count), new Random(count));
      expect(visible(rest.result), `after ${count} calls`).toEqual(visible(whole.result));
      expect(rest.begun.filter((call) => !String(call).includes(' inside'))).toHaveLength(whole.ended.length - count);
    }
  });

  it(`wait at once for several answers, which may come one by one and in any order, for ${CUTS} orders`, async () => {
    const answers: readonly Completion[] = ['p', 'q', 'r', 's'].map((n) => ({ ok: true, value: `late ${n}` }));
    const first = await permuted(WAITING, new Random(0));
    const expected = JSON.stringify(visible(first.result));
    const end = await afterWait(WAITING, first, answers, new Random(0));
    expect(end.result.emits).toEqual(['["p", "q", "r", "s", "late p", "late q", "late r", "late s"]', 'after']);
    expect(end.begun).toEqual(['echo after']);
    for (let seed = 1; seed <= CUTS; seed++) {
      const random = new Random(seed);
      let run = await permuted(WAITING, random);
      if (JSON.stringify(visible(run.result)) !== expected)
        expect(visible(run.result), `seed ${seed}`).toEqual(visible(first.result));
      while (run.result.waiting !== undefined) {
        const waiting = [run.result.waiting, ...(run.result.alsoWaiting ?? [])];
        expect(run.result.error?.code).toBe('ERR_SUSPENDED');
        const given = waiting.map(({ args }) =>
          random.once(2) ? (answers.find((answer) => answer.ok && answer.value === `late ${args[0]}`) ?? null) : null,
        );
        const before = run;
        run = await afterWait(WAITING, run, given, random);
        const left = given.filter((answer) => answer === null).length;
        expect(run.result.alsoWaiting?.length ?? -1).toBe(left > 1 ? left - 1 : -1);
        expect(run.begun).toEqual(left > 0 ? [] : ['echo after']);
        if (left > 0) expect(run.result.journal).toHaveLength(before.result.journal.length + given.length - left);
      }
      expect(run.result.emits).toEqual(end.result.emits);
      expect(steady(run.result.journal)).toEqual(steady(end.result.journal));
      expect(run.result.usage.fuel).toBe(end.result.usage.fuel);
    }
  });
});

describe('calls that run together, where others fail', () => {
  const HANDLED = `command
  on error do
    set late = tool.t.Later('in the handler')
    emit system_error.message + ', ' + late
    clear_error
  endon
  together
    set a = tool.t.Later('first')
    set b = tool.t.Echo('bad')
    set c = tool.t.Echo('c')
  endtogether
  emit [a, b, c]
endcommand
`;
  const failed: Completion = { ok: false, code: 21, message: 'late failure' };

  it.each([
    ['the first in the program, though it ended last', failed, 'late failure', 'nil'],
    ['the only one', { ok: true, value: 1 } as const, 'no bad', '1'],
  ])('raise %s, and go on from a handler that waits itself', async (_, answer, message, a) => {
    const begun = await permuted(HANDLED, new Random(1));
    expect(begun.result.waiting?.args).toEqual(['first']);
    const handling = await afterWait(HANDLED, begun, [answer], new Random(2));
    expect(handling.result.waiting?.args).toEqual(['in the handler']);
    expect(handling.begun).toEqual(['later in the handler']);
    const done = await afterWait(HANDLED, handling, [{ ok: true, value: 'late' }], new Random(3));
    expect(done.begun).toEqual([]);
    expect(done.result).toMatchObject({ ok: true, emits: [`${message}, late`, `[${a}, nil, "c"]`] });
  });

  it('refuse a program that does not repeat the calls that waited', async () => {
    const begun = await permuted(WAITING, new Random(1));
    const other = WAITING.replace("'q'", "'Q'");
    const sources = [{ name: 'src', text: other }];
    const changed = await afterWait(
      other,
      { ...begun, input: { ...begun.input, sources } },
      [null, null, null, null],
      new Random(2),
    );
    expect(changed.result.error).toMatchObject({ code: 'ERR_REPLAY' });
    expect(changed.begun).toEqual([]);
  });

  it('may read variables of the program and set none', async () => {
    const source = `command
  on error do
    emit system_error.code + ' ' + system_error.message
    clear_error
  endon
  set x = 1
  together
    set seen = tool.t.Read('x')
    call tool.t.Set('x', 2)
  endtogether
  emit [x, seen[0]]
  call tool.t.Set('x', 3)
  emit x
endcommand
`;
    const { result } = await permuted(source, new Random(1));
    expect(result.emits).toEqual([
      '43 a call that runs together with others cannot set variables or constants of the program',
      '[1, 1]',
      '3',
    ]);
  });
});
