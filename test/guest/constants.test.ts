import { describe, expect, it } from 'vitest';
import { type Driven, type DriveOptions, drive, Raise, type TestTool } from './driver.ts';

/** `tool.ns.def_global_const` as the host's will be: what the guest refuses is code 21. */
const define: TestTool = ([name, value], io) => {
  const { error } = io.defineConst(String(name), value ?? null);
  if (error !== null) throw new Raise(21, error);
  return true;
};
const redefine: TestTool = ([name, value], io) => io.defineConst(String(name), value ?? null, true).error;
const TOOLS = { 'tool.ns.def_global_const': define, 'tool.ns.redefine': redefine };

function main(body: readonly string[], options: DriveOptions = {}): Driven {
  return drive(['func main() means', ...body, 'endfunc', ''].join('\n'), { call: 'main', tools: TOOLS, ...options });
}

describe('constants of the host', () => {
  it('are read in every fork', () => {
    const source = 'func f() means\nreturn K.a\nendfunc\n';
    const run = drive(`${source}on event 'x' do\nemit f()\nendon\n`, {
      constants: { K: { a: 7 } },
      events: [{ name: 'x', source: 's', payload: null }],
    });
    expect(run.values).toEqual([7]);
  });

  it('are found by eval, by templates and by tools', () => {
    const tools = { 'tool.t.get': (([name], io) => io.getVar(String(name)).value) satisfies TestTool };
    const run = main(["emit eval('{{K}}')", 'emit ```{{K + 1}}```', "emit tool.t.get('K')"], { constants: { K: 7 }, tools });
    expect(run.values).toEqual(['7', '8', 7]);
  });

  it('are hidden by a variable, a parameter and a loop variable of their name', () => {
    const f = ['func f(needs K) means', 'return K', 'endfunc', ''].join('\n');
    const body = ['func main() means', 'emit f(nil)', 'for each K in [5]', 'emit K', 'endfor', 'set K = 8', 'emit K', 'endfunc'];
    expect(drive(`${f}${body.join('\n')}\n`, { call: 'main', constants: { K: 7 } }).values).toEqual([null, 5, 8]);
  });

  it('are copied when an element is written: the next fork sees the old value', () => {
    const source = ['func f() means', 'set K[0] = 9', 'set M.a.b = 1', 'emit [K, M]', 'endfunc', ''];
    const body = ['func main() means', 'call f()', 'emit [K, M]', 'set i = 1', 'set K[i] = 3', 'emit K', 'endfunc', ''];
    const run = drive([...source, ...body].join('\n'), { call: 'main', constants: { K: [1], M: { a: { c: 2 } } } });
    expect(run.emits).toEqual(['[[9], {"a": {"c": 2, "b": 1}}]', '[[1], {"a": {"c": 2}}]', '[1, 3]']);
  });

  it('give way to a variable that is nil', () => {
    expect(main(['set K = nil', 'emit K', 'set K[0] = 1', 'emit K'], { constants: { K: [7, 7] } }).emits).toEqual(['nil', '[1]']);
  });

  it('cannot have the name of a global (42)', () => {
    expect(main(['emit 1'], { constants: { self: 1 } }).error).toMatchObject({ nsCode: 42 });
  });

  it('cannot have the name of a procedure (42): no override', () => {
    const { error } = main(['emit 1'], { constants: { main: 1 } });
    expect(error).toMatchObject({ nsCode: 42, line: 1, column: 6, message: expect.stringContaining("'main'") });
  });

  it('count as memory', () => {
    const text = 'x'.repeat(2_000_000);
    const run = main(['emit len(K)'], { constants: { K: text }, limits: { memoryBytes: 1 << 20 } });
    expect(run.error).toMatchObject({ code: 'ERR_QUOTA', limit: 'memoryBytes' });
  });
});

describe('constants that a tool defines', () => {
  it('row 291: are there at once, and a variable hides them', () => {
    const run = main(["must tool.ns.def_global_const('K', 7)", 'emit K', 'set K=8', 'emit K']);
    expect(run.values).toEqual([7, 8]);
  });

  it('are seen by forks that run already', () => {
    const source = ['func f() means', "call tool.ns.def_global_const('K', 7)", 'endfunc', ''].join('\n');
    const body = ['func main() means', 'emit K', 'call f()', 'emit K', 'endfunc', ''].join('\n');
    expect(drive(source + body, { call: 'main', tools: TOOLS }).values).toEqual([null, 7]);
  });

  it.each([
    ['K', "'K' is a global constant already"],
    ['main', "'main' is a procedure already"],
    ['tick', "'tick' is the name of an event already"],
    ['self', "'self' is a global already"],
  ])('cannot take the name %s', (name, message) => {
    const body = ['func main() means', `call tool.ns.def_global_const('${name}', 7)`, 'emit 1', 'endfunc', ''];
    const events = ["on event 'tick' do", 'emit 1', 'endon', ''];
    const run = drive([...body, ...events].join('\n'), { call: 'main', tools: TOOLS, constants: { K: 1 } });
    expect(run.error).toMatchObject({ nsCode: 21, message });
  });

  it('can be redefined where the host allows it; nothing else can', () => {
    const run = main(["emit tool.ns.redefine('K', 2)", 'emit K', "emit tool.ns.redefine('main', 2)"], { constants: { K: 1 } });
    expect(run.values).toEqual([null, 2, "'main' is a procedure already"]);
  });
});
