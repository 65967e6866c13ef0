import { METERED_RECORDS, meteredEntries } from './meteredfloor.ts';

/**
 * The rows of `bench peers` on the smallest interpreter that works as ours does, in a fresh isolate in a process that can be killed: each node
 * of a program is a function that calls those of its parts, and variables have places in an array. It has no meter, no limits, no positions
 * of errors and no types of its own, and V8 meets its code cold, as it meets ours. Where it is slower than a goal allows, what the
 * issue keeps (a tree-walking interpreter in a fresh isolate) stands in the way of the goal. Two rows, for which this one is faster than their
 * goals, have the accounts of `meteredfloor.ts` as well. Work of built-in tools is that of V8's own functions,
 * and tool calls are function calls, as with the peers.
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
function script(steps: readonly string[], result: string): string {
  return `(() => {${NODES}\nreturn run([${steps.join(',\n')},\ngive(${result})], []).value;\n})()`;
}

/** A loop of `i` from 0 to below a count. */
function counting(count: number, start: string, step: string, result: string): string {
  return script([start, 'set(i, num(0))', `loop(less(get(i), num(${count})), ${step}, next)`], result);
}

const appends = (count: number): string =>
  script(
    ['set(l, list)', `loop(less(len(get(l)), num(${count})), setItem(get(l), len(get(l)), len(get(l))))`],
    `add(len(get(l)), item(get(l), num(${count - 1})))`,
  );
const entries = (count: number): string =>
  counting(count, 'set(m, map())', "setEntry(get(m), add(num('k'), get(i)), get(i))", 'len(get(m))');

const TURN = script(['set(i, num(1))'], 'get(i)');
const FIB =
  "[when(less(get(n), num(2)), give(get(n))), give(add(call('fib', sub(get(n), num(1))), call('fib', sub(get(n), num(2)))))]";
const DOWN = "[when(less(get(n), num(1)), give(num(0))), give(add(call('down', sub(get(n), num(1))), num(1)))]";
const COUNT = 'setEntry(get(m), get(t), add(entry(get(m), get(t)), num(1)))';
const WORDS = "tool(() => 'the quick brown fox jumps over a lazy dog '.repeat(24000).trim().split(' '))";
const LATE = "setEntry(get(m), num('label'), add(num('late '), get(r)))";

/** Lines `set x = x + 1`, read word by word and made into nodes before they run. */
const PARSE = `(() => {${NODES}
const words = ('set x = 0 ' + 'set x = x + 1 '.repeat(5000)).match(/\\S+/g);
let at = 0;
const term = () => { const word = words[at++]; return word === 'x' ? get(i) : num(Number(word)); };
const steps = [];
while (at < words.length) {
  at += 3;
  let value = term();
  while (words[at] === '+') { at += 1; value = add(value, term()); }
  steps.push(set(i, value));
}
steps.push(give(get(i)));
return run(steps, []).value;
})()`;

/** Scripts for a raw isolate by the names of the rows; their values are the results of the rows. */
export const PEER_FLOORS: Readonly<Record<string, string>> = {
  'trivial turn, rested': TURN,
  'the same, back to back': TURN,
  'loop 1 M': counting(1_000_000, 'set(sum, num(0))', 'set(sum, add(get(sum), get(i)))', 'get(sum)'),
  'fib(25)': script([`() => { procedures.set('fib', ${FIB}); }`], "call('fib', num(25))"),
  '30 calls deep × 1,000': counting(
    1000,
    `() => { procedures.set('down', ${DOWN}); }, set(sum, num(0))`,
    "set(sum, add(get(sum), call('down', num(30))))",
    'get(sum)',
  ),
  'append 10 k': appends(10_000),
  'append 100 k': appends(100_000),
  'map set 10 k': entries(10_000),
  'map set 100 k': meteredEntries(100_000),
  'text of 20 k pieces': counting(20_000, "set(t, num(''))", "set(t, add(get(t), num('piece ')))", 'len(get(t))'),
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
  'parse 5 k lines': PARSE,
  'agent script, 60 lines, 10 tools': script(
    [
      'set(l, list)',
      'set(sum, num(0))',
      ...Array.from({ length: 10 }, (_, at) =>
        [
          `set(r, tool((value) => value, num(${at})))`,
          `set(m, map(['step', num(${at})], ['found', get(r)]))`,
          `when(less(num(4), get(r)), ${LATE})`,
          'setItem(get(l), len(get(l)), get(m))',
        ].join(', '),
      ),
      "each(m, get(l), set(sum, add(get(sum), entry(get(m), num('found')))))",
    ],
    'get(sum)',
  ),
};
