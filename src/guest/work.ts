import { DATA_FUEL, METER_WEIGHT, SECOND_FUEL, STEP_FUEL, VALUE_BYTES } from '../wire/costs.ts';

/** What one kind of work takes from the meter, by one table of prices. */
export interface Price {
  /** Fuel for the work as such, however small it is. */
  readonly base: number;
  /** Fuel for every `per` units, rounded down. */
  readonly fuel: number;
  readonly per: number;
  /** The time of `per` units, in statements, at least `fuel`: how much sooner the next check of the clocks comes. */
  readonly time: number;
}

/** One kind of work, with its price in each table. */
export interface Work {
  /** By table 1. */
  readonly first: Price;
  /** By table 2. */
  readonly second: Price;
  /** Bytes of scratch memory for each unit. */
  readonly bytes: number;
}

interface Extra {
  readonly base?: number;
  readonly bytes?: number;
  /** The price in table 2, where it is another. */
  readonly second?: Second;
}

interface Second {
  readonly fuel: number;
  readonly units: number;
}

/** Work on data that costs fuel. It takes longer than a statement of the same fuel, by `METER_WEIGHT`. */
function fuel(amount: number, per: number, { base = 0, bytes = 0, second }: Extra = {}): Work {
  const price = (units: number, each: number): Price => ({ base, fuel: each, per: units, time: METER_WEIGHT * each });
  const first = price(per, amount);
  return { first, second: second === undefined ? first : price(second.units, second.fuel), bytes };
}

/**
 * Work that costs no fuel in table 1, or whose fuel is paid elsewhere. It still takes time: that of `statements` for `per` units. In table 2
 * it costs `second` for them.
 */
function time(statements: number, per = 1, second = 0): Work {
  const first = { base: 0, fuel: 0, per, time: statements };
  return { first, second: { ...first, fuel: second }, bytes: 0 };
}

/** Work that table 2 alone knows. */
function later({ fuel: amount, units }: Second): Work {
  const first = { base: 0, fuel: 0, per: units, time: 0 };
  return { first, second: { ...first, fuel: amount, time: amount }, bytes: 0 };
}

const ITEM = VALUE_BYTES.item.amount;

/**
 * The table of all work that is not a plain step of the program: what it costs and how long it takes. `Meter.pay` charges it. The
 * published prices come from `wire/costs.ts`. The times are measured, and may change; the fuel is part of the product.
 *
 * Statements, passes of loops and calls are not here: compiled code pays for them itself, at the prices of `STEP_FUEL`.
 */
export const WORK = {
  // Text and data, at the published prices. The unit is a UTF-16 unit, an item, a step of a matcher, a counted value.
  concat: fuel(1, DATA_FUEL.concat.amount, { second: SECOND_FUEL.concat }),
  compare: fuel(1, DATA_FUEL.compare.amount, { second: SECOND_FUEL.compare }),
  scan: fuel(1, DATA_FUEL.scan.amount, { second: SECOND_FUEL.scan }),
  /** Units that a tool repeats. */
  repeat: fuel(1, DATA_FUEL.scan.amount, { second: SECOND_FUEL.concat }),
  /** Units of a beginning or an end that is tested. */
  affix: fuel(1, DATA_FUEL.scan.amount, { second: SECOND_FUEL.affix }),
  /** Units that are looked through one by one. */
  slowScan: fuel(1, DATA_FUEL.scan.amount, { second: SECOND_FUEL.slow }),
  number: fuel(1, DATA_FUEL.number.amount),
  text: fuel(1, DATA_FUEL.text.amount),
  json: fuel(1, DATA_FUEL.json.amount),
  copy: fuel(1, DATA_FUEL.copy.amount),
  match: fuel(1, DATA_FUEL.match.amount),
  census: fuel(1, DATA_FUEL.census.amount),
  /** Working out how deep one list or map nests; the unit is one of its items. */
  depth: fuel(1, DATA_FUEL.census.amount, { base: 1 }),

  // Whole items and entries, at the published prices.
  written: fuel(STEP_FUEL.written.amount, 1),
  compared: fuel(STEP_FUEL.compared.amount, 1),
  /** Comparing two lists or maps with each other, their items included. */
  comparedContainers: fuel(STEP_FUEL.compared.amount, 1, { base: 2 * STEP_FUEL.compared.amount }),
  /** An item, entry, line or place in a text that is visited once. */
  visit: fuel(1, 1),

  // Steps that compiled code does not pay for itself.
  hostCall: fuel(STEP_FUEL.host.amount, 1),
  /** Fuel that a nested loop reports to have used. */
  nested: fuel(1, 1),
  /** Raising an error; the unit is a frame of its stack. */
  raise: fuel(1, 1, { base: STEP_FUEL.raise.amount }),
  /** Setting `system_error` for a handler; the unit is a frame of the stack. */
  handle: fuel(STEP_FUEL.written.amount, 1, { base: STEP_FUEL.call.amount }),
  /** Evaluating the name of an event; the unit is an operation. */
  eventName: fuel(1, 1, { base: STEP_FUEL.statement.amount }),

  // The work of single tools.
  sort: fuel(1, 1),
  unique: fuel(1, 1, { bytes: 2 * ITEM }),
  compilePattern: fuel(4, 1, { second: SECOND_FUEL.pattern }),
  expandGroup: fuel(1, 1, { bytes: 2 * ITEM }),
  /** One character becomes eighteen at most (U+FDFA). */
  normalize: fuel(1, DATA_FUEL.text.amount, { bytes: 18 * 2, second: SECOND_FUEL.normalize }),
  characterSet: fuel(1, DATA_FUEL.copy.amount, { bytes: 64 }),
  utf8: fuel(1, DATA_FUEL.text.amount, { bytes: 3 }),
  fromBase64: fuel(1, DATA_FUEL.text.amount, { bytes: 1 }),
  shortestEdit: fuel(1, DATA_FUEL.match.amount, { bytes: 16 }),

  // Work that takes time only, in table 1 at least.
  emit: time(16, 1, SECOND_FUEL.said.fuel),
  pureCall: time(16, 1, SECOND_FUEL.pure.fuel),
  /** Characters that are counted or passed one by one. */
  character: later(SECOND_FUEL.character),
  /** Line feeds of what is emitted. */
  line: later(SECOND_FUEL.line),
  /** The marks of a key of a shape. */
  mark: later(SECOND_FUEL.mark),
  /** A search that works out the groups of a match. */
  groups: later(SECOND_FUEL.groups),
  /** A list of known length that a tool makes, besides its items. */
  list: later(SECOND_FUEL.list),
  /** A field of a template. */
  templateField: later(SECOND_FUEL.field),
  /** Compiling an expression. */
  compile: time(8),
  /** Making a wide frame; the unit is a byte of it. */
  frame: time(1, 256),
  /** A round of a loop over characters or items. */
  round: time(1, 4),
  /** An item that takes as long as a statement. */
  item: time(1),
  /** A part of a long text that is read as a number or as white space. */
  textPart: time(1024, 1, SECOND_FUEL.space.fuel),
  /** A unit of a text that V8 rewrites. */
  rewrite: time(1024, 1024, SECOND_FUEL.escape.fuel),
  /** A unit of a text that V8 copies before the first of its characters is read. */
  flatten: time(1, 8192),
  /** A unit of a text that V8 hashes. */
  hash: time(1, 32),
  /** A unit of two texts of which V8 only asks whether they are the same. */
  sameText: time(1, 1024, SECOND_FUEL.same.fuel),
  /** A unit of the keys of which V8 asks whether they are a long one. */
  longKey: time(64, SECOND_FUEL.key.units, SECOND_FUEL.key.fuel),
  /** A unit of two texts that V8 compares one after the other: for their order, or for a common beginning. */
  textOrder: time(1, 32),
  /** A place of `eval` where a field may begin, and a field there. */
  fieldStart: time(2, 1, SECOND_FUEL.fieldStart.fuel),
  field: time(16, 1, SECOND_FUEL.field.fuel),
  /** An item that is added to a joined text. */
  join: time(2),
  /** Removing what controls a terminal, once. */
  stripAnsi: time(16, 1, SECOND_FUEL.ansi.fuel),
  /** A part of a text that is normalized. */
  normalizePart: time(4096),
  /** An escape in JSON. */
  jsonEscape: time(4, 1, SECOND_FUEL.ansi.fuel),
  /** A unit of the path of a problem that is reported. */
  problemPath: time(1, 16),
  /** A name among the groups of a pattern. */
  groupName: time(1, 8),
  /** An offset that a search keeps at one place of the text. */
  offset: time(1, 4),
  /** Asking for one property of a character. */
  property: time(1),
  /** Working out what an automaton does with a character. */
  transition: time(16),
  /** A step of a search that costs no fuel: those that work out groups, and the last ones of a search that ended early. */
  unpaidMatch: time(1),
} as const satisfies Record<string, Work>;
