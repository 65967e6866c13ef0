import { type FloorScript, METERED_LOOP, METERED_RECORDS, METERED_TEXT, meteredAppends, meteredEntries } from './meteredfloor.ts';
import type { PeerRow } from './peerrows.ts';
import type { RawProcess, RawRun } from './rawprocess.ts';

/**
 * The rows of `bench peers` on the smallest interpreter that works as ours does, in a process that can be killed, in fresh isolates or in one that is
 * kept: each node of a program is a function that calls those of its parts, and variables have places in an array. It has no meter, no limits,
 * no positions of errors and no types of its own, and V8 meets its code as cold as ours. Where it is slower than a goal allows, a tree-walking
 * interpreter in such an isolate stands in the way of the goal. Six rows, which this one is faster than their
 * goals or than ours, have the accounts of `meteredfloor.ts` as well. Work of built-in tools is that of V8's own functions.
 */
const NODES = `
const num = (value) => () => value;
const get = (slot) => (frame) => frame[slot];
const set = (slot, value) => (frame) => { frame[slot] = value(frame); };
const add = (a, b) => (frame) => a(frame) + b(frame);
const sub = (a, b) => (frame) => a(frame) - b(frame);
const less = (a, b) => (frame) => a(frame) < b(frame);
const same = (a, b) => (frame) => a(frame) === b(frame);
const item = (list, index) => (frame) => list(frame)[index(frame)];
const setItem = (list, index, value) => (frame) => { list(frame)[index(frame)] = value(frame); };
const entry = (map, key) => (frame) => map(frame).get(key(frame));
const setEntry = (map, key, value) => (frame) => { map(frame).set(key(frame), value(frame)); };
const list = () => [];
const map = (...entries) => (frame) => {
  const made = new Map();
  for (const [key, value] of entries) made.set(key, value(frame));
  return made;
};
const len = (of) => (frame) => { const value = of(frame); return value.length ?? value.size; };
const tool = (work, ...args) => (frame) => work(...args.map((arg) => arg(frame)));
const run = (steps, frame) => {
  for (let i = 0; i < steps.length; i++) {
    const done = steps[i](frame);
    if (done !== undefined) return done;
  }
};
const when = (condition, ...steps) => (frame) => { if (condition(frame)) return run(steps, frame); };
const loop = (condition, ...steps) => (frame) => {
  while (condition(frame)) {
    const done = run(steps, frame);
    if (done !== undefined) return done;
  }
};
const each = (slot, items, ...steps) => (frame) => {
  for (const value of items(frame)) {
    frame[slot] = value;
    const done = run(steps, frame);
    if (done !== undefined) return done;
  }
};
const give = (value) => (frame) => ({ value: value(frame) });
const procedures = new Map();
const call = (name, arg) => (frame) => run(procedures.get(name), [arg(frame)]).value;
const [n, i, sum, l, m, t, r] = [0, 0, 1, 2, 3, 4, 5];
const next = set(i, add(get(i), num(1)));
`;

/** A script that runs steps and gives the value of a node. */
function script(steps: readonly string[], result: string): FloorScript {
  return { prelude: NODES, body: `return run([${steps.join(',\n')},\ngive(${result})], []).value;` };
}

/** A loop of `i` from 0 to below a count. */
function counting(count: number, start: string, step: string, result: string): FloorScript {
  return script([start, 'set(i, num(0))', `loop(less(get(i), num(${count})), ${step}, next)`], result);
}

const appends = (count: number): FloorScript =>
  script(
    ['set(l, list)', `loop(less(len(get(l)), num(${count})), setItem(get(l), len(get(l)), len(get(l))))`],
    `add(len(get(l)), item(get(l), num(${count - 1})))`,
  );

const TURN = script(['set(i, num(1))'], 'get(i)');
const FIB =
  "[when(less(get(n), num(2)), give(get(n))), give(add(call('fib', sub(get(n), num(1))), call('fib', sub(get(n), num(2)))))]";
const DOWN = "[when(less(get(n), num(1)), give(num(0))), give(add(call('down', sub(get(n), num(1))), num(1)))]";
const COUNT = 'setEntry(get(m), get(t), add(entry(get(m), get(t)), num(1)))';
const WORDS = "tool(() => 'the quick brown fox jumps over a lazy dog '.repeat(24000).trim().split(' '))";

/**
 * The rows that are about parsing and tool calls. Chevrotain parses their text in the process, with our grammar, into the tree with positions,
 * which enters the isolate as JSON; each tool call is a blocking round trip to the host. Nothing else of ours is in it.
 */
export const PARSED_FLOORS: ReadonlySet<string> = new Set(['parse 5 k lines', 'agent script, 60 lines, 10 tools']);

/** Makes nodes of the statements of such a tree. */
const TREE_NODES = `${NODES}
const slots = new Map();
const slot = (name) => {
  if (!slots.has(name)) slots.set(name, slots.size);
  return slots.get(name);
};
const binary = { '+': add, '>': (a, b) => less(b, a) };
const put = (into, key, value) => (frame) => {
  const held = into(frame);
  if (held instanceof Map) held.set(key(frame), value(frame));
  else held[key(frame)] = value(frame);
};
const expr = (e) => {
  switch (e.k) {
    case 'num':
    case 'str': return num(e.v);
    case 'name': return get(slot(e.name));
    case 'binary': return e.rest.reduce((left, { op, right }) => binary[op](left, expr(right)), expr(e.first));
    case 'list': return list;
    case 'map': return map(...e.entries.map(([key, value]) => [key.v, expr(value)]));
    case 'access': return entry(expr(e.base), expr(e.steps[0].index));
    case 'call': return len(expr(e.args[0]));
    case 'tool': return tool((value) => JSON.parse(host(JSON.stringify({ name: e.name, args: [value] }))).args[0], expr(e.args[0]));
  }
};
const step = (s) => {
  switch (s.k) {
    case 'set': {
      const [{ name, steps: [at] }] = s.targets;
      const to = slot(name.name);
      return at === undefined ? set(to, expr(s.value)) : put(get(to), expr(at.index), expr(s.value));
    }
    case 'if': return when(expr(s.cond), ...s.then.stmts.map(step));
    case 'for': return each(slot(s.item.name), expr(s.over), ...s.body.stmts.map(step));
    case 'emit': return give(expr(s.value));
  }
};
`;
const TREE: FloorScript = { prelude: TREE_NODES, body: 'return run(JSON.parse(tree).stmts.map(step), []).value;' };

/** With these flags of V8 the process collects young values as our workers do. */
export const FLOOR_FLAGS: readonly string[] = ['--max-semi-space-size=2', '--no-parallel-scavenge'];

/** By the names of the rows; their values are the results of the rows. */
export const PEER_FLOORS: Readonly<Record<string, FloorScript>> = {
  'trivial turn, rested': TURN,
  'the same, back to back': TURN,
  'loop 1 M': METERED_LOOP,
  'fib(25)': script([`() => { procedures.set('fib', ${FIB}); }`], "call('fib', num(25))"),
  '30 calls deep × 1,000': counting(
    1000,
    `() => { procedures.set('down', ${DOWN}); }, set(sum, num(0))`,
    "set(sum, add(get(sum), call('down', num(30))))",
    'get(sum)',
  ),
  'append 10 k': meteredAppends(10_000),
  'append 100 k': appends(100_000),
  'map set 10 k': meteredEntries(10_000),
  'map set 100 k': meteredEntries(100_000),
  'text of 20 k pieces': METERED_TEXT,
  'split + sort 100 k': script(
    ["set(l, tool(() => 'delta,alpha,echo,bravo,charlie,'.repeat(20000).split(',').sort()))"],
    'add(len(get(l)), len(item(get(l), num(50000))))',
  ),
  'words of 1 MB': script(
    [
      'set(m, map())',
      `each(t, ${WORDS}, when(same(entry(get(m), get(t)), num(undefined)), setEntry(get(m), get(t), num(0))), ${COUNT})`,
    ],
    "add(entry(get(m), num('fox')), len(get(m)))",
  ),
  '10 k records transformed': METERED_RECORDS,
  'pattern over 1 MB': script(
    ["set(l, tool(() => 'error 42 in line 7; all is well so far; '.repeat(25000).match(/error [0-9]+/g)))"],
    'len(get(l))',
  ),
  'parse 5 k lines': TREE,
  'agent script, 60 lines, 10 tools': TREE,
};

/** The work of a row as one script for a fresh isolate, or for one that is kept, in which the nodes stay. */
export function runFloor(
  raw: RawProcess,
  { name, neuroscript: { commands } }: PeerRow,
  isolate: 'fresh' | 'kept',
  timeoutMs?: number,
): Promise<RawRun> {
  const { prelude, body } = PEER_FLOORS[name] ?? { prelude: '', body: '' };
  const source = PARSED_FLOORS.has(name) ? { source: commands } : {};
  return isolate === 'fresh'
    ? raw.run(`(() => {${prelude}\n${body}\n})()`, timeoutMs, { ahead: true, ...source })
    : raw.run(`(() => {${body}\n})()`, timeoutMs, { kept: prelude, ...source });
}
