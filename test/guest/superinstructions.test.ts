import { describe, expect, it } from 'vitest';
import { STEP_FUEL } from '../../src/wire/costs.ts';
import { drive } from './driver.ts';

const source = (...body: readonly string[]): string => `command\n${body.join('\n')}\nendcommand\n`;

describe('statements that count are paid together with the next', () => {
  /** Each statement of a pass with its line and its fuel; the pass itself is charged at its condition. */
  const body = [
    'set i = 0',
    'set n = 0',
    'while i < 50',
    'set n = n + i',
    'set i = i + 1',
    'set n = n - 1',
    'emit n',
    'endwhile',
  ];
  const pass = [
    { line: 4, fuel: 2 },
    { line: 5, fuel: 2 },
    { line: 6, fuel: 2 },
    { line: 7, fuel: 2 },
    { line: 8, fuel: 1 },
    { line: 8, fuel: STEP_FUEL.said.amount },
  ];
  const before = [
    { line: 2, fuel: 1 },
    { line: 3, fuel: 1 },
    { line: 4, fuel: 1 },
  ];

  it('ends at the statement that cannot be paid, wherever that is', () => {
    const steps = [...before, ...Array.from({ length: 50 }, () => pass).flat()];
    for (let allowed = 1; allowed < 200; allowed++) {
      let used = 0;
      const refused = steps.find(({ fuel }) => {
        used += fuel;
        return used > allowed;
      });
      const { error } = drive(source(...body), { limits: { fuel: allowed } });
      expect({ line: error?.line, used: error?.used }).toEqual({ line: refused?.line, used });
    }
  });

  it('says what it says where each is paid alone', () => {
    // `last` keeps the value of every statement, so that none is done ahead.
    const { emits, fuel } = drive(source(...body));
    expect(drive(source(...body, 'set z = last'))).toMatchObject({ emits, fuel: fuel + 1 });
    expect(emits).toHaveLength(50);
  });

  it.each(['"1"', '"a"', 'nil', '[1]', '{"a": 1}', '-0.0', 'true', '1 / 3'])('takes %s as where each is paid alone', (value) => {
    const steps = ['if true', 'set j = i + 1', 'set k = i - 0', 'set l = k + j', 'emit j', 'emit 1 / k', 'emit l', 'endif'];
    const ahead = drive(source(`set i = ${value}`, ...steps));
    const alone = drive(source(`set i = ${value}`, ...steps, 'set z = last'));
    expect(alone.emits).toEqual(ahead.emits);
    expect(alone.error).toEqual(ahead.error);
    expect(alone.fuel - ahead.fuel).toBe(ahead.ok ? 1 : 0);
  });

  it('is what `last` means right after it', () => {
    const steps = ['set i = 1', 'if true', 'set i = i + 1', 'set z = last', 'emit z', 'endif'];
    expect(drive(source(...steps)).emits).toEqual(['2']);
  });

  it('P7: does not write a global by counting from something else', () => {
    const steps = ['set n = 1', 'if true', 'set g = n + 1', 'emit g', 'endif'];
    expect(drive(source(...steps), { globals: { g: 3 } })).toMatchObject({ emits: [], error: { nsCode: 43, line: 4 } });
  });

  it('takes a variable that was never set, a global and a constant as where each is paid alone', () => {
    const steps = ['if true', 'set k = n + g', 'set k = k + c', 'emit k', 'set g = g + 1', 'emit g', 'endif'];
    const options = { globals: { n: 2, g: 3 }, constants: { c: 4 } };
    const ahead = drive(source(...steps), options);
    expect(ahead.emits).toEqual(['9']);
    expect(ahead.error).toMatchObject({ nsCode: 43, line: 6 });
    expect(drive(source(...steps, 'set z = last'), options)).toMatchObject({
      emits: ['9'],
      error: ahead.error,
      fuel: ahead.fuel,
    });
  });
});
