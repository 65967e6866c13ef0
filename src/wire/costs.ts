import type { FuelCosts } from '../../grammar/index.ts';

/**
 * The published prices: the fuel of work and the bytes of values. The same program with the same input spends the same on every machine,
 * so these numbers are part of the product; `docs/limits.md` is generated from them. How the interpreter charges them is in
 * `guest/work.ts`.
 */

interface Cost {
  readonly amount: number;
  /** What the amount is charged for. */
  readonly per: string;
}

/** Fuel for each step. A statement is charged as a whole before it starts, parts included that `and`, `or` or an error then skip. */
export const STEP_FUEL = {
  statement: { amount: 1, per: 'statement' },
  pass: { amount: 1, per: 'pass of a loop, and once for leaving it' },
  operation: {
    amount: 1,
    per: 'operator, element access, built-in call, literal element, template part; names and plain literals are free',
  },
  call: { amount: 5, per: 'procedure call, handler run or event delivery' },
  raise: { amount: 25, per: 'error raised, and one more for every frame of its stack' },
  written: { amount: 4, per: 'item or entry turned into text or JSON, or read from JSON' },
  compared: { amount: 1, per: 'item or entry compared, and twice for each list or map' },
  host: { amount: 100, per: 'tool call, promptuser or ask' },
  pure: { amount: 4, per: 'call of a tool that runs inside the isolate, in place of that' },
  pureCall: { amount: 16, per: 'such a call that is made, besides the 4' },
  said: { amount: 16, per: '`emit` or `whisper`, besides its statement' },
  fieldStart: { amount: 1, per: '`{{` that `eval` finds' },
  field: { amount: 4, per: 'field of `eval` or of a template' },
  space: { amount: 512, per: '4,096 units of white space or digits in a row, in a text read as a number' },
  pattern: { amount: 8, per: 'unit of a pattern, read for the first time' },
  groups: { amount: 64, per: 'search that works out groups' },
  rewrite: { amount: 32, per: '1,024 units, begun, of `regex.Escape`' },
  escape: { amount: 1, per: 'escape character that `str.StripAnsi` finds, and escape in JSON' },
  mark: { amount: 1, per: 'key of a shape, and every eight of its marks' },
  list: { amount: 2, per: 'list of known length that a tool makes' },
} as const satisfies Record<string, Cost>;

/** How much white space, or how many digits in a row, one price of `space` is for. */
export const SPACE_UNITS = 4096;

/** Fuel for data: one fuel for `amount` items, rounded down, so that small values cost no more than their operation. */
export const DATA_FUEL = {
  concat: {
    amount: 1024,
    per: 'UTF-16 units copied: of what `*`, a template or a tool makes, of the shorter side of `+`, of a text grown by an eighth',
  },
  compare: { amount: 128, per: 'UTF-16 units compared' },
  scan: { amount: 128, per: 'UTF-16 units looked through by `len`, an index, eval or a tool' },
  affix: { amount: 16, per: 'UTF-16 units of a beginning or an end that a tool looks for' },
  slow: { amount: 8, per: 'UTF-16 units searched for line feeds, or where a beginning occurs again and again' },
  character: { amount: 4, per: 'characters counted or passed, in texts beyond 64 units with surrogates; characters trimmed' },
  normalize: { amount: 4, per: 'UTF-16 units normalized' },
  same: { amount: 1024, per: 'UTF-16 units of a text that is looked for among those known' },
  key: { amount: 65_536, per: 'UTF-16 units of keys, when one of more than 16,383 units is looked up' },
  number: { amount: 16, per: 'UTF-16 units of a text read as a number' },
  text: { amount: 8, per: 'UTF-16 units of a value turned into text, and of output' },
  line: { amount: 2, per: 'line feeds in what `emit` says' },
  json: { amount: 8, per: 'UTF-16 units of JSON that cross the boundary to the host' },
  copy: {
    amount: 2,
    per: 'items copied before a write to a shared container, joined, padded, or put into a list or map by a tool',
  },
  match: { amount: 8, per: 'steps of a tool through a pattern, or through lines that it compares' },
  census: { amount: 16, per: 'values counted when memory is recounted' },
  hostWork: { amount: 32, per: 'bytes that a tool works on for the program on the host, as it declares' },
} as const satisfies Record<string, Cost>;

/** Texts of up to this many UTF-16 units are joined, compared and looked through at no fuel beside that of the operation. */
export const SHORT_TEXT = 64;

/**
 * Bytes that values count towards `memoryBytes`: about what V8 needs for them and for garbage that it has not collected yet. The process
 * grows by at most 1.25 times the limit (`bench quotas` measures it). A list or map counts once, a text once for every place that
 * holds it.
 */
export const VALUE_BYTES = {
  text: { amount: 40, per: 'text' },
  unit: { amount: 2, per: 'UTF-16 unit of a text' },
  list: { amount: 176, per: 'list' },
  item: { amount: 32, per: 'item of a list' },
  map: { amount: 368, per: 'map' },
  entry: { amount: 192, per: 'entry of a map, besides the units of its key' },
  other: { amount: 64, per: 'bytes, timedate, fuzzy, error or handle value, besides its content' },
  frame: { amount: 160, per: 'running procedure, event handler or command block' },
  slot: { amount: 24, per: 'variable of a running procedure, event handler or command block' },
} as const satisfies Record<string, Cost>;

/** Memory is never recounted below this number of bytes. */
export const CENSUS_FLOOR = 8 * 1024 * 1024;

/** Most fuel between two checks of the clocks. A single large operation on data may take more. */
export const METER_INTERVAL = 16_384;

/** Time that work on data takes, in times of a statement of the same fuel. The next check of the clocks comes nearer by this factor. */
export const METER_WEIGHT = 8;

/** Most items of nil with which a single write may extend a list. */
export const MAX_PADDING = 1_000_000;

/** Deepest nesting of lists and maps that is turned into text, compared or sent to the host. */
export const MAX_NESTING = 500;

/** Longest text V8 can hold, in UTF-16 units: the hard maximum of `textLength`. */
export const MAX_TEXT_UNITS = 2 ** 29 - 25;

/** Most entries V8 keeps in one map: the hard maximum of `mapLength`. */
export const MAX_MAP_ENTRIES = 2 ** 24 - 1;

/** Longest message of an error. A longer one is shortened. */
export const MAX_MESSAGE_UNITS = 8192;

/** Bytes of a whisper's target that are free. Longer names count, or they would be a way around `scratchBytes`. */
const FREE_TARGET_BYTES = 64;

/**
 * Most UTF-16 units of all emitted values as JSON, for each byte that `outputBytes` allows. A list or map has fewer than five units for
 * each byte of its text, but bytes and errors have a short text and any number of units.
 */
export const VALUE_UNITS = 8;

/** Fuel of work on the host that counts as a millisecond of CPU time. */
export const HOST_FUEL_PER_MS = 10_000;

/** Bytes that a whisper counts: its text with a line feed, and what is long of its target. */
export function whisperedBytes(targetBytes: number, textBytes: number): number {
  return Math.max(0, targetBytes - FREE_TARGET_BYTES) + textBytes + 1;
}

export function textBytes(units: number): number {
  return VALUE_BYTES.text.amount + VALUE_BYTES.unit.amount * units;
}

/** The prices as bounds of fuel take them. One unit may be paid for in several rows of {@link DATA_FUEL}: the bounds take them together. */
export const BOUNDING_COSTS: FuelCosts = {
  steps: { ...STEP_FUEL, pure: { amount: STEP_FUEL.pure.amount + STEP_FUEL.pureCall.amount } },
  data: {
    ...DATA_FUEL,
    text: together(DATA_FUEL.text.amount, DATA_FUEL.line.amount),
    scan: together(DATA_FUEL.scan.amount, DATA_FUEL.same.amount, DATA_FUEL.character.amount),
    // A unit is white space or a digit; digits among underscores may be read twice.
    number: together(DATA_FUEL.number.amount, DATA_FUEL.same.amount, SPACE_UNITS / (2 * STEP_FUEL.space.amount)),
  },
  values: VALUE_BYTES,
  recountBytes: CENSUS_FLOOR,
  padding: MAX_PADDING,
};

function together(...each: readonly number[]): { readonly amount: number } {
  return { amount: 1 / each.reduce((sum, per) => sum + 1 / per, 0) };
}
