/** A script for a raw isolate. The body is evaluated with what the prelude declares, and returns a value. */
export interface FloorScript {
  readonly prelude: string;
  readonly body: string;
}

/**
 * The smallest interpreter of `peerfloors.ts` with what the product has to keep and nothing else of it: exact fuel for each statement, a clock
 * that is looked at, bytes of all values with a census when they may be too many, the size and depth of each value, lengths that are
 * bounded, values that are copied when two places hold them, texts that may be numbers, and the place of an error.
 */
const NODES = `
const SIZE = { text: 40, unit: 2, list: 176, item: 32, map: 368, entry: 192 };
const MOST = { bytes: 1e9, depth: 1e4, text: 1e9, items: 1e7, entries: 1e7, memory: 64 * 1024 * 1024, ms: 20000, pause: 16384 };
const FLOOR = 8 * 1024 * 1024;
const m = { left: 1e12, until: 0, used: 0, statement: 0, look: 4096, due: FLOOR, census: 0, at: 0, end: 0 };
class List { constructor() { this.shared = false; this.census = 0; this.bytes = SIZE.list; this.depth = 1; this.items = []; } }
class Dict { constructor() { this.shared = false; this.census = 0; this.bytes = SIZE.map; this.depth = 1; this.entries = new Map(); } }
for (const each of [new List(), new Dict()]) { each.shared = true; each.census = 1; each.depth = 2; }
const begin = () => { Object.assign(m, { left: 1e12, until: 0, used: 0, due: FLOOR, end: Date.now() + MOST.ms }); };
const stop = (what) => { throw new Error(what + ' at ' + m.at); };
const refill = (at) => {
  m.at = at;
  m.left += m.until;
  if (m.left < 0) stop('fuel');
  m.until = Math.min(MOST.pause, m.left);
  m.left -= m.until;
  if (Date.now() > m.end) stop('time');
};
let bytes = 0, visited = 0;
const count = (value) => {
  if (typeof value === 'string') bytes += SIZE.text + SIZE.unit * value.length;
  if (typeof value !== 'object' || value === null || value.census === m.census) return;
  value.census = m.census;
  const { items, entries } = value;
  visited += items === undefined ? entries.size : items.length;
  if (value.depth === 1) bytes += value.bytes;
  else if (items !== undefined) {
    bytes += SIZE.list + SIZE.item * items.length;
    for (let i = 0; i < items.length; i++) count(items[i]);
  } else {
    bytes += SIZE.map;
    entries.forEach((each, key) => { bytes += SIZE.entry + SIZE.unit * key.length; count(each); });
  }
};
const look = (added) => {
  if (m.used + added <= m.due) {
    m.used += added;
    m.look = Math.min(m.due, 2 * m.used);
    return;
  }
  m.census++;
  bytes = m.statement;
  visited = 0;
  for (const value of frame) count(value);
  m.left -= visited >> 4;
  m.used = Math.min(m.used + added, bytes);
  if (m.used > MOST.memory) stop('memory');
  m.look = m.due = Math.max(FLOOR, 2 * m.used);
};
const allocate = (bytes) => {
  m.statement += bytes;
  if (m.used + bytes > m.look) look(bytes);
  else m.used += bytes;
};
const sizeOf = (value) =>
  typeof value === 'string' ? SIZE.text + SIZE.unit * value.length : typeof value === 'object' && value !== null ? value.bytes : 0;
const placed = (into, value) => {
  if (typeof value === 'string') into.bytes += SIZE.text + SIZE.unit * value.length;
  else if (typeof value === 'object' && value !== null) {
    into.bytes += value.bytes;
    if (value.depth >= into.depth) into.depth = value.depth + 1;
  }
};
const checked = (value) => { if (value.bytes > MOST.bytes || value.depth > MOST.depth) stop('value'); };
const text = (value) => {
  if (typeof value === 'string') return value;
  const made = String(value);
  allocate(SIZE.text + SIZE.unit * made.length);
  return made;
};
const numeric = (value) => typeof value === 'number' || (typeof value === 'string' && value.length <= 16 && value.charCodeAt(0) <= 0x39);
const sum = (a, b) => {
  if (numeric(a) && numeric(b)) return Number(a) + Number(b);
  const left = text(a), right = text(b), units = left.length + right.length;
  if (units > 64) m.left -= units >> 6;
  if (units > MOST.text) stop('text');
  allocate(SIZE.text + SIZE.unit * units);
  return left + right;
};
const bad = (at) => { m.at = at; stop('type'); };
const num = (value) => () => value;
const get = (slot) => (frame) => frame[slot];
const set = (slot, value) => (frame) => { frame[slot] = value(frame); };
const shared = (value) => (frame) => {
  const got = value(frame);
  if (typeof got === 'object' && got !== null) got.shared = true;
  return got;
};
const add = (a, b, at) => (frame) => {
  const x = a(frame), y = b(frame);
  if (typeof x === 'number' && typeof y === 'number') return x + y;
  m.at = at;
  return sum(x, y);
};
const mul = (a, b, at) => (frame) => { const x = a(frame), y = b(frame); return typeof x === 'number' && typeof y === 'number' ? x * y : bad(at); };
const div = (a, b, at) => (frame) => { const x = a(frame), y = b(frame); return typeof x === 'number' && typeof y === 'number' && y !== 0 ? x / y : bad(at); };
const less = (a, b, at) => (frame) => { const x = a(frame), y = b(frame); return typeof x === 'number' && typeof y === 'number' ? x < y : bad(at); };
const item = (list, index, at) => (frame) => {
  const from = list(frame), i = index(frame);
  return from instanceof List && i >= 0 && i < from.items.length ? from.items[i] : bad(at);
};
const setItem = (slot, index, value, at) => (frame) => {
  const made = value(frame), i = index(frame), into = frame[slot];
  m.at = at;
  if (!(into instanceof List) || into.shared || i !== into.items.length) bad(at);
  allocate(SIZE.item);
  if (i + 1 > MOST.items) stop('items');
  into.bytes += SIZE.item;
  placed(into, made);
  checked(into);
  into.items.push(made);
};
const entry = (map, key, at) => (frame) => { const from = map(frame); return from instanceof Dict ? (from.entries.get(key) ?? null) : bad(at); };
const setEntry = (slot, key, value, at) => (frame) => {
  const made = value(frame), name = key(frame), into = frame[slot];
  m.at = at;
  if (!(into instanceof Dict) || into.shared || typeof name !== 'string') bad(at);
  const before = into.entries.get(name);
  if (before === undefined) {
    const more = SIZE.entry + SIZE.unit * name.length;
    allocate(more);
    if (into.entries.size >= MOST.entries) stop('entries');
    into.bytes += more;
  } else into.bytes -= sizeOf(before);
  placed(into, made);
  checked(into);
  into.entries.set(name, made);
};
const list = (at) => () => { m.at = at; allocate(SIZE.list); return new List(); };
const part = (key, value, at) => ({ key, value, at, bytes: SIZE.entry + SIZE.unit * key.length });
const map = (at, ...parts) => (frame) => {
  m.at = at;
  allocate(SIZE.map);
  const made = new Dict();
  for (let i = 0; i < parts.length; i++) {
    const next = parts[i];
    const value = next.value(frame);
    m.at = next.at;
    allocate(next.bytes);
    made.bytes += next.bytes;
    placed(made, value);
    made.entries.set(next.key, value);
  }
  m.at = at;
  checked(made);
  return made;
};
const len = (of, at) => (frame) => {
  const value = of(frame);
  if (typeof value === 'string') {
    m.left -= value.length >> 6;
    return points(value);
  }
  return value instanceof List ? value.items.length : value instanceof Dict ? value.entries.size : bad(at);
};
const points = (text) => {
  let count = 0;
  for (let i = 0; i < text.length; count++) i += text.codePointAt(i) > 0xffff ? 2 : 1;
  return count;
};
const step = (fuel, at, run) => ({ fuel, at, run });
const run = (steps, frame) => {
  for (let i = 0; i < steps.length; i++) {
    const next = steps[i];
    const until = m.until - next.fuel;
    m.until = until;
    if (until < 0) refill(next.at);
    m.statement = 0;
    const done = next.run(frame);
    if (done !== undefined) return done;
  }
};
const when = (condition, ...steps) => (frame) => { if (condition(frame)) return run(steps, frame); };
const loop = (fuel, at, condition, ...steps) => (frame) => {
  for (;;) {
    const until = m.until - fuel;
    m.until = until;
    if (until < 0) refill(at);
    m.statement = 0;
    if (!condition(frame)) return;
    const done = run(steps, frame);
    if (done !== undefined) return done;
  }
};
const give = (value) => (frame) => ({ value: value(frame) });
const [i, l, r] = [0, 1, 2];
const frame = [null, null, null];
`;

/** A loop of `i` from 0 to below a count, after a start with a list or a map in `l`. Places are those of the lines. */
function metered(count: number, start: string, steps: readonly string[], result: string): FloorScript {
  const next = 'step(2, 9, set(i, add(get(i), num(1), 9)))';
  const passes = `loop(2, 3, less(get(i), num(${count}), 3), ${steps.join(', ')}, ${next})`;
  const all = [
    `step(2, 1, set(l, ${start}))`,
    'step(1, 2, set(i, num(0)))',
    `step(0, 3, ${passes})`,
    `step(4, 10, give(${result}))`,
  ];
  return { prelude: NODES, body: `begin();\nreturn run([${all.join(',\n')}], frame).value;` };
}

const field = (name: string): string => `entry(get(r), '${name}', 5)`;
const RECORD = "map(4, part('id', get(i), 4), part('name', num('user'), 4), part('score', mul(get(i), num(2), 4), 4))";
const LABEL = `part('label', add(${field('name')}, ${field('id')}, 6), 6)`;
const HALF = `part('half', div(${field('score')}, num(2), 6), 6)`;
const LABELLED = `map(6, part('id', shared(${field('id')}), 6), ${LABEL}, ${HALF})`;

/** `peerfloors.ts` has the rows. */
export const METERED_RECORDS: FloorScript = metered(
  10_000,
  'list(1)',
  [
    `step(6, 4, set(r, ${RECORD}))`,
    `step(3, 5, when(less(num(100), ${field('score')}, 5), step(13, 6, setItem(l, len(get(l), 6), ${LABELLED}, 6))))`,
  ],
  "add(len(get(l), 10), entry(item(get(l), num(0), 10), 'id', 10), 10)",
);

export const METERED_LOOP: FloorScript = metered(1_000_000, 'num(0)', ['step(2, 4, set(l, add(get(l), get(i), 4)))'], 'get(l)');

export const METERED_TEXT: FloorScript = metered(
  20_000,
  "num('')",
  ["step(3, 4, set(l, add(get(l), num('piece '), 4)))"],
  'len(get(l), 10)',
);

export function meteredAppends(count: number): FloorScript {
  const result = `add(len(get(l), 10), item(get(l), num(${count - 1}), 10), 10)`;
  return metered(count, 'list(1)', ['step(5, 4, setItem(l, len(get(l), 4), len(get(l), 4), 4))'], result);
}

export function meteredEntries(count: number): FloorScript {
  return metered(count, 'map(1)', ["step(3, 4, setEntry(l, add(num('k'), get(i), 4), get(i), 4))"], 'len(get(l), 10)');
}
