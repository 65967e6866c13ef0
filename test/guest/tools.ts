import { Raise, type TestTool } from './driver.ts';

/** The test tools of language.md section 12 that need nothing of the real host (argument types, policy). */
export const TEST_TOOLS: Readonly<Record<string, TestTool>> = {
  'tool.t.echo': (args) => args.map((arg) => `float64 ${arg}`).join(','),
  'tool.t.give': ([value]) => value ?? null,
  // Like a host, it checks its argument: the guest takes a degree that is no number for a fault of the interpreter.
  'tool.t.fuzzy': ([degree]) => {
    if (typeof degree !== 'number') throw new Raise(4, 'the degree of truth is no number');
    return { $fuzzy: degree };
  },
  'tool.t.rtfail': () => {
    throw new Raise(22, 'no such file');
  },
  'tool.t.panic': () => {
    throw new Raise(6, "panic during tool 'tool.t.panic' invocation: boom");
  },
  'tool.t.retnil': () => null,
  'tool.t.setvar': ([name, value], io) => {
    const { error } = io.setVar(String(name), value ?? null);
    if (error !== null) throw new Raise(43, error);
    return null;
  },
  'tool.ns.def_global_const': ([name, value], io) => {
    const { error } = io.defineConst(String(name), value ?? null);
    if (error !== null) throw new Raise(21, error);
    return true;
  },
  'tool.t.getvar': ([name], io) => {
    const { found, value } = io.getVar(String(name));
    return { found, value };
  },
};
