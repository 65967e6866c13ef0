import { expect, it } from 'vitest';
import { inputOf } from '../../src/runtime/input.ts';
import { defaultLimits } from '../../src/wire/limits.ts';

/** A source that counts how often its text is read, and the pure tools that a run of it gets. */
function counting(text: string, frozen: boolean) {
  let reads = 0;
  const source = {
    name: 'lib',
    get text(): string {
      reads += 1;
      return text;
    },
  };
  if (frozen) Object.freeze(source);
  const context: never = {
    root: { definitions: { sources: [source], constants: new Map() }, host: { stdin: null } },
    tools: { pureNames: () => ['tool.str.length'] },
    guards: [],
    turn: { tenant: null, deadline: null },
    limits: defaultLimits('run'),
    globals: new Map(),
  } as never;
  return { run: () => inputOf(context, {}).pure, reads: () => reads };
}

it('a library that cannot change is searched for tool calls once, however many runs it has', () => {
  for (const [text, pure] of [
    ['emit tool.str.Length("x")', ['tool.str.length']],
    ['emit 1', undefined],
  ] as const) {
    const library = counting(text, true);
    expect([library.run(), library.run(), library.run(), library.reads()]).toEqual([pure, pure, pure, 1]);
    const other = counting(text, false);
    expect([other.run(), other.run(), other.reads()]).toEqual([pure, pure, 2]);
  }
});
