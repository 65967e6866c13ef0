/**
 * The smallest interpreter that works as ours does: each node of a program is a function that calls those of its parts. It has no meter, no
 * limits, no positions of errors and no types of its own, so it is the floor of a tree-walking interpreter in a fresh isolate: V8 meets its
 * code cold as it meets ours, and compiles it while it runs.
 */
const NODES = `
const num = (value) => () => value;
const get = (name) => (frame) => frame.get(name);
const set = (name, value) => (frame) => { frame.set(name, value(frame)); };
const add = (a, b) => (frame) => a(frame) + b(frame);
const less = (a, b) => (frame) => a(frame) < b(frame);
const setItem = (list, index, value) => (frame) => { list(frame)[index(frame)] = value(frame); };
const setEntry = (map, key, value) => (frame) => { map(frame).set(key(frame), value(frame)); };
const sizeOf = (list) => (frame) => { const value = list(frame); return value.length ?? value.size; };
const run = (steps, frame) => {
  for (const step of steps) {
    const done = step(frame);
    if (done !== undefined) return done;
  }
};
const loop = (condition, steps) => (frame) => {
  while (condition(frame)) {
    const done = run(steps, frame);
    if (done !== undefined) return done;
  }
};
const give = (value) => (frame) => ({ value: value(frame) });
const procedures = new Map();
const call = (name, ...args) => (frame) => {
  const { params, steps } = procedures.get(name);
  const own = new Map();
  params.forEach((param, index) => own.set(param, args[index](frame)));
  return run(steps, own).value;
};
`;

/** A program of the smallest interpreter as a script for a raw isolate; its value is that of `result`. */
function floorScript(steps: readonly string[], result: string): string {
  return `(() => {${NODES}
return run([${steps.join(', ')}, give(${result})], new Map()).value;
})()`;
}

/** A loop with `i` from 0 to below a size. */
export function floorLoop(size: number, start: string, step: string, result: string): string {
  const next = "set('i', add(get('i'), num(1)))";
  return floorScript([start, "set('i', num(0))", `loop(less(get('i'), num(${size})), [${step}, ${next}])`], result);
}

/** A loop that calls a procedure of one parameter in each of its passes. */
export function floorCalls(passes: number): string {
  const light = "procedures.set('light', { params: ['n'], steps: [give(get('n'))] })";
  return floorLoop(passes, `() => { ${light}; }`, "set('x', call('light', get('i')))", "get('x')");
}
