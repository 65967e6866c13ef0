import { describe, expect, it } from 'vitest';
import { DATA_FUEL, METER_INTERVAL, METER_WEIGHT, SPACE_UNITS, STEP_FUEL } from '../../src/wire/costs.ts';
import { type Driven, drive } from './driver.ts';

const run = (body: string, limits = {}): Driven => drive(`command\n${body}\nendcommand\n`, { limits });
const { statement, operation, call, pass, host, space } = Object.fromEntries(
  Object.entries(STEP_FUEL).map(([name, { amount }]) => [name, amount]),
);
const sum = (...amounts: (number | undefined)[]): number =>
  amounts.reduce<number>((total, amount = Number.NaN) => total + amount, 0);

describe('fuel', () => {
  it('is spent by the published table: statements, operations, passes, calls', () => {
    expect(run('set x = 1').fuel).toBe(sum(statement));
    expect(run('set x = 1 + 2 * 3').fuel).toBe(sum(statement, operation, operation));
    expect(run('set x = 0\nwhile x < 3\nset x = x + 1\nendwhile').fuel).toBe(
      sum(statement, statement) + 4 * sum(pass, operation) + 3 * sum(statement, operation),
    );
    const called = drive('func f() means\nreturn 1\nendfunc\nfunc main() means\nreturn f()\nendfunc\n', { call: 'main' });
    expect(called.fuel).toBe(sum(call, statement, operation, call, statement));
  });

  it('counts what is skipped within a statement, so that the sum is known beforehand', () => {
    expect(run('set x = 0 and 1/0').fuel).toBe(run('set x = 1 and 1/1').fuel);
  });

  it('is spent in proportion to data', () => {
    const repeat = (times: number): number => run(`set x = 'abcdefgh' * ${times}`).fuel;
    expect(repeat(80_000) - repeat(0)).toBe((8 * 80_000) / DATA_FUEL.concat.amount);
    const emitted = (times: number): number => run(`emit 'abcdefgh' * ${times}`).fuel;
    expect(emitted(8000) - emitted(0)).toBeGreaterThan((8 * 8000) / DATA_FUEL.text.amount);
  });

  it('is spent for the digits of a number that becomes a text, in whole units of the price', () => {
    const converted = (digits: number): number => run(`set x = '' + 1e${digits - 1}`).fuel - sum(statement, operation);
    for (const digits of [1, 7, 8, 63, 64, 301]) expect(converted(digits)).toBe(Math.floor(digits / DATA_FUEL.text.amount));
  });

  it('is spent once for each 4,096 units of white space that stand before a number or behind it, wherever they stand', () => {
    const read = (text: string): number => {
      const { fuel, error } = run(`set x = -'${text}'`);
      expect(error).toBeNull();
      return fuel;
    };
    const plain = read('7'.padStart(2 * SPACE_UNITS + 1, '0'));
    for (const blanks of [SPACE_UNITS - 1, SPACE_UNITS, 2 * SPACE_UNITS]) {
      const charge = (space ?? Number.NaN) * Math.floor(blanks / SPACE_UNITS);
      const zeros = '0'.repeat(2 * SPACE_UNITS - blanks);
      expect(read(`${zeros}7${' '.repeat(blanks)}`) - plain).toBe(charge);
      expect(read(`${' '.repeat(blanks)}${zeros}7`) - plain).toBe(charge);
    }
  });

  it('is spent for calls that run together as for the same calls alone, and for the block', () => {
    const tools = { 'tool.t.give': () => 'x'.repeat(800) };
    const body = "call tool.t.give('abc')\n".repeat(20);
    const alone = drive(`command\n${body}endcommand\n`, { tools });
    const block = drive(`command\ntogether\n${body}endtogether\nendcommand\n`, { tools });
    const loop = drive("command\nfor each c in 'a' * 20 together\ncall tool.t.give('abc')\nendfor\nendcommand\n", { tools });
    expect(block.error).toBeNull();
    // The answers come as one text, which is a few units shorter for each call.
    expect(Math.abs(block.fuel - sum(alone.fuel, statement))).toBeLessThanOrEqual(2 * 20);
    expect(loop.fuel).toBe(sum(block.fuel, operation) + 20 * sum(pass));
  });

  it('is spent for a call to the host', () => {
    const tools = { 'tool.t.nil': () => null };
    expect(drive('command\ncall tool.t.nil()\nendcommand\n', { tools }).fuel).toBeGreaterThanOrEqual(
      sum(statement, operation, host),
    );
  });

  it('is the same on every run, whatever the program does', () => {
    const source = `func f(needs n) means
  on error do
    clear_error
  endon
  set m = {'k': [n, 'text' * n]}
  set m.k[0] = m
  fail eval("{{m}}")
  return len(\`\`\`{{m}}\`\`\`)
endfunc
func main() means
  set total = 0
  for each c in 'añ😀' * 50
    set total = total + f(len(c) + 3)
  endfor
  emit total
endfunc
`;
    const runs = Array.from({ length: 3 }, () => drive(source, { call: 'main' }));
    expect(new Set(runs.map(({ fuel, peakMemoryBytes }) => `${fuel} ${peakMemoryBytes}`)).size).toBe(1);
    expect(runs[0]?.ok).toBe(true);
  });

  it('ends a run exactly when more is used than allowed', () => {
    const body = 'set i = 0\nwhile i < 5000\nset i = i + 1\nendwhile';
    const { fuel } = run(body);
    expect(run(body, { fuel }).ok).toBe(true);
    const short = run(body, { fuel: fuel - 1 });
    expect(short.error).toMatchObject({
      kind: 'quota',
      code: 'ERR_QUOTA',
      nsCode: null,
      limit: 'fuel',
      allowed: fuel - 1,
      used: fuel,
    });
  });

  it('is exact wherever the end falls between two looks at the clocks', () => {
    // A pass takes five units.
    const least = Math.ceil(METER_INTERVAL / 5);
    for (let passes = least; passes < least + 20; passes++) {
      const body = `set i = 0\nwhile i < ${passes}\nset i = i + 1 + 1 - 1\nendwhile`;
      const { fuel } = run(body);
      expect(fuel).toBeGreaterThan(METER_INTERVAL);
      expect([run(body, { fuel }).ok, run(body, { fuel: fuel - 1 }).ok]).toEqual([true, false]);
    }
  });

  it.each(['set l = []\nset l[99] = 1', "set l = {}\nset l['a'] = 1\nset l['b'] = 1"])(
    'ends at the write that a shared value is copied for: %j',
    (made) => {
      const body = `${made}\nset k = l\nset k[0] = 2`;
      const { fuel } = run(body);
      const line = body.split('\n').length + 1;
      expect(run(body, { fuel: fuel - 1 }).error).toMatchObject({ limit: 'fuel', line });
    },
  );

  const looks = (body: string): { readonly asked: number; readonly fuel: number } => {
    let asked = 0;
    const clock = (): number => {
      asked++;
      return 0;
    };
    const { ok, fuel } = drive(`command\n${body}\nendcommand\n`, { clock, pure: true, limits: { emits: 20_000 } });
    expect(ok).toBe(true);
    // The last look is that of the end.
    return { asked: asked - 1, fuel };
  };
  const loop = (passes: number, body: string): string => `set i = 0\nwhile i < ${passes}\n${body}\nset i = i + 1\nendwhile`;

  it('for data brings the next look at the clocks nearer than fuel for statements: it takes longer', () => {
    const { asked, fuel } = looks(loop(2000, "set s = 'x' * 128000"));
    expect(asked / (fuel / (METER_INTERVAL / METER_WEIGHT))).toBeGreaterThan(0.9);
    const plain = looks(loop(50_000, 'set s = 1'));
    expect(plain.asked / (plain.fuel / METER_INTERVAL)).toBeCloseTo(1, 1);
  });

  it('for a field of eval, which costs four, counts as sixteen statements towards the next look at the clocks', () => {
    const { asked, fuel } = looks("set x = 1\nset s = eval('{{x}}' * 10000)");
    expect(asked).toBeGreaterThanOrEqual(Math.floor((fuel + 12 * 10_000) / METER_INTERVAL));
  });

  it('is exact wherever the end falls in work that is looked at more often', () => {
    const body = "set x = 1\nset s = eval('{{x}}' * 2000)\nset s = s * 50\nemit tool.str.Count(s, '1')";
    const fuelOf = (fuel?: number): Driven =>
      drive(`command\n${body}\nendcommand\n`, { pure: true, limits: fuel === undefined ? undefined : { fuel } });
    const { fuel } = fuelOf();
    expect(fuel).toBeGreaterThan(METER_INTERVAL);
    expect([fuelOf(fuel).ok, fuelOf(fuel - 1).ok]).toEqual([true, false]);
    expect(fuelOf(fuel - 1).error).toMatchObject({ limit: 'fuel', allowed: fuel - 1, used: fuel });
  });

  it('is exact for one charge that takes all there is', () => {
    const body = "set s = 'ab' * 400000";
    const { fuel } = run(body);
    expect([run(body, { fuel }).ok, run(body, { fuel: fuel - 1 }).ok]).toEqual([true, false]);
  });

  it('ends a run at the same place with the same output every time', () => {
    const body = 'set i = 0\nwhile true\nset i = i + 1\nemit i\nendwhile';
    const [first, second] = [run(body, { fuel: 12_345 }), run(body, { fuel: 12_345 })];
    expect(first).toEqual(second);
    expect(first.emits.length).toBeGreaterThan(100);
    expect(first.error).toMatchObject({ limit: 'fuel', line: expect.any(Number), stack: [{ name: 'Command Block' }] });
  });

  it('P24: the default admits five million passes of an empty loop', () => {
    const driven = run('set i = 0\nwhile i < 5000000\nset i = i + 1\nendwhile\nemit i');
    expect(driven.emits).toEqual(['5000000']);
  });

  it('a fork within a fork pays from the same purse', () => {
    const driven = drive(['func f() means\nwhile true\nset x = 1\nendwhile\nendfunc\n', 'command\ncall f()\nendcommand\n'], {
      limits: { fuel: 1000 },
    });
    expect(driven.error?.stack.map(({ name }) => name)).toEqual(['f', 'Command Block']);
  });

  it('comparing what a value holds twice at every level costs what is looked at', () => {
    const body =
      'set a = [1]\nset b = [1]\nset i = 0\nwhile i < 20\nset a = [a, a]\nset b = [b, b]\nset i = i + 1\nendwhile\nemit a == b';
    expect(run(body, { fuel: 1_000_000 }).error).toMatchObject({ limit: 'fuel' });
    expect(run(body.replace('a == b', 'a'), { fuel: 1_000_000 }).error?.code).toBe('ERR_QUOTA');
  });
});

describe('the clocks', () => {
  it('issue 44, finding 3: count the last operation of a program too', () => {
    let looks = 0;
    const clock = (): number => (++looks === 1 ? 0 : 1);
    expect(drive('command\nset text = "x" * 1000\nendcommand\n', { clock })).toMatchObject({
      ok: false,
      phase: 'exec',
      error: { code: 'ERR_QUOTA', limit: 'cpuMs' },
    });
    expect(looks).toBe(2);
  });

  const endless = 'while true\nset x = 1\nendwhile';

  it('are asked at least every interval', () => {
    let asked = 0;
    const driven = drive(`command\n${endless}\nendcommand\n`, {
      limits: { fuel: 100 * METER_INTERVAL },
      clock: () => {
        asked++;
        return 0;
      },
    });
    expect(driven.error?.limit).toBe('fuel');
    expect(asked).toBeGreaterThanOrEqual(100);
  });

  it('end the run: CPU time is a quota, elapsed time a timeout', () => {
    let asked = 0;
    const later = (answer: number) => () => (++asked > 3 ? answer : 0);
    expect(drive(`command\n${endless}\nendcommand\n`, { clock: later(1) }).error).toMatchObject({
      kind: 'quota',
      code: 'ERR_QUOTA',
      limit: 'cpuMs',
      allowed: 10_000,
    });
    asked = 0;
    expect(drive(`command\n${endless}\nendcommand\n`, { clock: later(2) }).error).toMatchObject({
      kind: 'timeout',
      code: 'ERR_TIMEOUT',
      limit: 'wallMs',
      allowed: 30_000,
    });
  });
});
