import { describe, expect, it } from 'vitest';
import { createRuntime } from '../../src/runtime/index.ts';
import { PURE_TOOLS, type PureToolName, pureArgs } from '../../src/wire/pure.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { PURE_GROUPS } from '../../stdlib-tools/pure/index.ts';
import { drive } from '../guest/driver.ts';

const ROWS = Object.values(PURE_GROUPS).flat();
const source = (example: string): string => `command\nemit ${example}\nendcommand\n`;

describe('the documented example of every pure tool', () => {
  it('is there for each, under the name of its group', () => {
    expect(ROWS.map(({ name }) => name).sort()).toEqual(Object.keys(PURE_TOOLS).sort());
    for (const [group, rows] of Object.entries(PURE_GROUPS))
      for (const { name, description, example } of rows) {
        expect(name).toMatch(new RegExp(`^tool\\.${group}\\.[A-Z]\\w*$`));
        expect(description).toMatch(/[.]$/);
        expect(example.startsWith(`${name}(`)).toBe(true);
      }
  });

  it.each(ROWS)('$example', ({ example, gives }) => {
    const { emits, error, calls, toolCalls } = drive(source(example), { pure: true });
    expect(error).toBeNull();
    expect(emits).toEqual([gives]);
    // Nothing left the isolate.
    expect([calls, toolCalls]).toEqual([[], 0]);
  });

  it('gives the same in the sandbox, for the same fuel and memory', async () => {
    const all = ROWS.map(({ example }) => `emit ${example}`).join('\n');
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

describe('the table of arguments', () => {
  it('is read completely', () => {
    for (const name of Object.keys(PURE_TOOLS) as PureToolName[]) {
      const args = pureArgs(name);
      const text = args.map((arg) => {
        const optional = arg.required || arg.default !== null ? '' : '?';
        return `${arg.name}${optional}: ${arg.type}${arg.default === null ? '' : ` = ${JSON.stringify(arg.default)}`}`;
      });
      expect(text.join(', ')).toBe(PURE_TOOLS[name]);
    }
  });
});
