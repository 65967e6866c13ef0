import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { readSignature } from '../../src/wire/pure/declaration.ts';
import { PURE_TOOLS } from '../../src/wire/pure/tools.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { drive } from '../guest/driver.ts';

const ROWS = Object.values(PURE_TOOLS).flatMap((group) =>
  Object.entries(group).map(
    ([
      name,
      {
        args,
        example: [call, prints],
      },
    ]) => ({ name, args, call, prints }),
  ),
);
const source = (call: string): string => `command\nemit ${call}\nendcommand\n`;

describe('the documented example of every pure tool', () => {
  it('calls the tool, under the name of its group', () => {
    for (const [group, tools] of Object.entries(PURE_TOOLS))
      for (const [
        name,
        {
          description,
          example: [call],
        },
      ] of Object.entries(tools)) {
        expect(name).toMatch(new RegExp(`^tool\\.${group}\\.[A-Z]\\w*$`));
        expect(description).toMatch(/[.]$/);
        expect(call.startsWith(`${name}(`)).toBe(true);
      }
  });

  it.each(ROWS)('$call', ({ call, prints }) => {
    const { emits, error, calls, toolCalls } = drive(source(call), { pure: true });
    expect(error).toBeNull();
    expect(emits).toEqual([prints]);
    // Nothing left the isolate.
    expect([calls, toolCalls]).toEqual([[], 0]);
  });

  it('gives the same in the sandbox, for the same fuel and memory', async () => {
    const all = ROWS.map(({ call }) => `emit ${call}`).join('\n');
    const program = `command\n${all}\nendcommand\n`;
    const inProcess = drive(program, { pure: true });
    await using runtime = await createRuntime({ tools: pureTools(), policy: { allow: ['*'] }, concurrency: 1 });
    const result = await runtime.run(program);
    expect(result.error).toBeNull();
    expect(result.emits).toEqual(inProcess.emits);
    expect(result.values).toEqual(inProcess.values);
    expect([result.usage.fuel, result.usage.peakMemoryBytes]).toEqual([inProcess.fuel, inProcess.peakMemoryBytes]);
    expect([result.usage.toolCalls, result.journal]).toEqual([0, []]);
  });

  it('stands in the catalogue with its result', () => {
    const tool = pureTools('str').find(({ name }) => name === 'tool.str.Length');
    expect(tool?.example).toBe('tool.str.Length("héllo")  # 5');
    expect(pureTools('str').every(({ effects, where }) => effects === 'none' && where === 'isolate')).toBe(true);
    expect(() => pureTools('nope' as 'str')).toThrow(/no group of pure tools 'nope'/);
  });
});

describe('the signatures', () => {
  it.each(ROWS)('of $name are read completely', ({ args }) => {
    for (const [signature] of args) {
      const { name, type, required, default: value } = readSignature(signature);
      const optional = required || value !== null ? '' : '?';
      expect(`${name}${optional}: ${type}${value === null ? '' : ` = ${JSON.stringify(value)}`}`).toBe(signature);
    }
  });
});
