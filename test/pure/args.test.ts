import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchArgs } from '../../src/tools/dispatch/arguments.ts';
import { defineTool } from '../../src/tools/index.ts';
import { decode as toHost } from '../../src/wire/codec.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { pureTools } from '../../stdlib-tools/index.ts';
import { codePoint } from '../codepoint.ts';
import { drive } from '../guest/driver.ts';

const number = fc.oneof(fc.integer(), fc.double(), fc.constantFrom(2 ** 63, -(2 ** 63), 1.5, -0, Number.NaN, 1e300));
const word = fc.oneof(
  fc.string({ unit: codePoint }),
  fc.constantFrom(
    'true',
    'FALSE',
    '1',
    '0',
    ' 42 ',
    '\u008542',
    '\ufeff42',
    '1_000',
    '0x1p4',
    'inf',
    '+nan',
    '1e999',
    '.5',
    '1.',
  ),
);
const leaf: fc.Arbitrary<TaggedJson> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  number.map((value) => tagged(value)),
  word,
  fc.constantFrom<TaggedJson>({ $fuzzy: 0.5 }, { $fuzzy: 1 }, { $error: { code: 1, message: 'm' } }, { $bytes: 'aGk=' }),
  fc.constantFrom<TaggedJson>({ $time: '2025-01-01T00:00:00Z' }, { $handle: 'file' }),
);
const value: fc.Arbitrary<TaggedJson> = fc.oneof(
  { depthSize: 'small' },
  leaf,
  fc.array(leaf, { maxLength: 4 }),
  fc.dictionary(fc.constantFrom('a', 'b'), leaf, { maxKeys: 2 }),
);

function tagged(value: number): TaggedJson {
  if (Number.isFinite(value) && !Object.is(value, -0)) return value;
  return { $num: Object.is(value, -0) ? '-0' : String(value) };
}

/** What the guest says of a call of a tool that only matches its arguments. */
const PROBES = pureTools().map((tool) => ({ tool, probe: defineTool({ name: tool.name, args: argsOf(tool), run: () => null }) }));

function argsOf({ parameters }: { readonly parameters: ReturnType<typeof pureTools>[number]['parameters'] }) {
  return parameters.map(({ name, kind, required, default: fallback }) => ({
    name,
    type: 'type' in kind ? kind.type : ('any' as const),
    required,
    ...(fallback === null ? {} : { default: fallback }),
  }));
}

describe('P6: the arguments of a pure tool are matched exactly as those of a tool of the host', () => {
  it('whatever they are, with the same words when they do not fit', async () => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...PROBES), fc.array(value, { maxLength: 4 }), async ({ tool, probe }, given) => {
        const onHost = await matchArgs(probe, given.map(toHost));
        const names = given.map((_, index) => `g${index}`);
        const globals = Object.fromEntries(given.map((each, index) => [`g${index}`, each]));
        const source = `command\ncall ${tool.name}(${names.join(', ')})\nendcommand\n`;
        const { error } = drive(source, { pure: true, globals, limits: { fuel: 1_000_000 } });
        const refused = error?.code === 'NS4' && error.message.includes('argument validation failed') ? error.message : null;
        expect(refused).toBe(onHost.ok ? null : onHost.problem);
      }),
      { numRuns: 1500 },
    );
  });

  it('a default that was left out or is nil is used, a required nil is refused, and everything is told at once', () => {
    const of = (call: string) => {
      const { emits, error } = drive(`command\nemit ${call}\nendcommand\n`, { pure: true });
      return error === null ? emits[0] : `${error.code} ${error.line}:${error.column} ${error.message}`;
    };
    expect(of('tool.str.PadLeft("7", 3)')).toBe('  7');
    expect(of('tool.str.PadLeft("7", 3, nil)')).toBe('  7');
    expect(of('tool.list.Get([], 0)')).toBe('nil');
    expect(of('tool.str.Substring(5, nil)')).toBe(
      "NS4 2:6 tool 'tool.str.substring' argument validation failed: missing required arguments: length; " +
        "argument 'input_string': expected string, got number; argument 'start_index': is required, but was nil",
    );
    const { error } = drive('command\nemit tool.str.PadLeft("7", "a")\nendcommand\n', { pure: true });
    expect(error?.hint).toBe('it takes 3 arguments (input_string, length, pad?)');
    expect(of('tool.str.ToUpper("a", 1)')).toBe(
      "NS4 2:6 tool 'tool.str.toupper' argument validation failed: takes 1 argument (input_string), got 2",
    );
    expect(of('1 + tool.math.Add("x", 1)')).toMatch(
      /^NS4 2:10 .*argument 'num1': expected float or number-like value, got string$/,
    );
  });
});
