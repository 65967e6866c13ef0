import { describe, expect, it } from 'vitest';
import { guestFiles, moduleState } from './modulestate.ts';
import { textSource } from './source.ts';

describe('the interpreter has no state but that of a run, because an isolate may serve many', () => {
  it('no module of it keeps anything that changes, but caches whose keys are the meters of runs', () => {
    const files = guestFiles();
    expect(files.length).toBeGreaterThan(100);
    expect(files.flatMap(moduleState)).toEqual([]);
  });

  it.each([
    ['a variable', 'let seen = 0;\nexport const next = () => ++seen;', 'seen changes'],
    [
      'a memo of what a program said',
      'let last: string | undefined;\nexport const keep = (t: string) => (last = t);',
      'last changes',
    ],
    ['a cache that forgets its run', 'const cache = new Map<string, Program>();', 'cache is a Map that can change'],
    ['a cache of what a run has', 'const cache = new WeakMap<List, number>();', 'cache is a WeakMap that can change'],
    ['a shared list', 'const EMPTY: Value[] = [];\nexport const add = (v: Value) => EMPTY.push(v);', 'EMPTY.push'],
    [
      'an open object',
      'const SIGNAL = { label: "" };\nexport const leave = (l: string) => { SIGNAL.label = l; };',
      'changes SIGNAL',
    ],
    ['a field of an open object', 'const S = { a: { b: 1 } };\nexport const f = () => delete S.a.b;', 'changes S'],
    ['an item', 'const TABLE = [0];\nexport const f = (i: number) => TABLE[i]++;', 'changes TABLE'],
    ['a static field', 'export class Scope { static depth = 0; }', 'a static field that changes'],
    ['a field of a function', 'export const f = () => 1;\nexport const g = () => { f.calls = 1; };', 'changes f'],
    [
      'a closure with a count',
      'function counter() { let n = 0; return () => ++n; }\nexport const next = counter();',
      'counter makes closures',
    ],
    ['a function called at once', 'export const next = (() => { let n = 0; return () => ++n; })();', 'a function called at once'],
    [
      'a pattern that goes on where it was',
      'const WORD = /a/y;\nexport const is = (t: string) => WORD.test(t);',
      'WORD.lastIndex is of an earlier use',
    ],
    ['a call when it is loaded', 'register();', 'a statement at module level'],
  ])('%s is found', (_, text, what) => {
    expect(moduleState(textSource('src/guest/x.ts', text)).map((each) => each.replace(/^\S+ /, ''))).toContain(what);
  });

  it.each([
    ['a table', 'const T: ReadonlyMap<string, number> = new Map([["a", 1]]);\nexport const f = (k: string) => T.get(k);'],
    [
      'a cache of each run',
      'const cache = new WeakMap<Meter, Map<string, P>>();\nexport const f = (m: Meter) => cache.set(m, new Map());',
    ],
    [
      'a constant made at its first use',
      'let p: RegExp | undefined;\nexport function f(t: string) {\n  p ??= /a/u;\n  return p.test(t);\n}',
    ],
    [
      'a local of the same name',
      'const items = [1];\nexport function f() {\n  const items = [2];\n  items.push(1);\n  return items;\n}',
    ],
    [
      'a pattern whose place is set',
      'const W = /a/y;\nexport function f(t: string) {\n  W.lastIndex = 0;\n  return W.test(t);\n}',
    ],
  ])('%s is none', (_, text) => {
    expect(moduleState(textSource('src/guest/x.ts', text))).toEqual([]);
  });
});
