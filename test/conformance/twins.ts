import {
  decode,
  defineTool,
  encode,
  type ToolDefinition,
  ToolError,
  type ToolRuntime,
  type Value,
} from '../../src/entries/index.ts';
import { rootTools } from '../../stdlib-tools/index.ts';

/** The test tools of `test/guest/tools.ts` once more, for programs in the sandbox: same names, same answers. */
export const TWINS: readonly ToolDefinition[] = [
  twin('t.echo', ['a', 'b', 'c'], ({ a, b, c }) =>
    [a, b, c]
      .filter((arg) => arg !== undefined && arg !== null)
      .map((arg) => `float64 ${encode(arg)}`)
      .join(','),
  ),
  twin('t.give', ['value'], ({ value }) => value ?? null),
  twin('t.fuzzy', ['degree'], ({ degree }) => decode({ $fuzzy: encode(degree ?? null) })),
  twin('t.rtfail', [], () => {
    throw new ToolError(22, 'no such file');
  }),
  twin('t.panic', [], () => {
    throw new ToolError(6, "panic during tool 'tool.t.panic' invocation: boom");
  }),
  twin('t.retnil', [], () => null),
  twin('t.setvar', ['name', 'value'], async ({ name, value }, caller) => {
    await caller.setVar(String(name), value ?? null);
    return null;
  }),
  twin('t.getvar', ['name'], async ({ name }, caller) => {
    const value = await caller.getVar(String(name));
    return { found: value !== undefined, value: value ?? null };
  }),
  ...rootTools().filter(({ canonicalName }) => canonicalName === 'tool.ns.def_global_const'),
];

type Given = Readonly<Record<string, Value | undefined>>;

function twin(name: string, args: readonly string[], run: (given: Given, caller: ToolRuntime) => unknown): ToolDefinition {
  return defineTool({
    name: `tool.${name}`,
    args: args.map((arg) => ({ name: arg, required: false })),
    run,
  });
}
