import { DATA_FUEL, METER_WEIGHT, STEP_FUEL, VALUE_BYTES } from '../wire/costs.ts';

/** What one kind of work takes from the meter. */
export interface Work {
  /** Fuel for the work as such, however small it is. */
  readonly base: number;
  /** Fuel for every `per` units, rounded down. */
  readonly fuel: number;
  readonly per: number;
  /** The time of `per` units, in statements, at least `fuel`: how much sooner the next check of the clocks comes. */
  readonly time: number;
  /** Bytes of scratch memory for each unit. */
  readonly bytes: number;
}

interface Extra {
  readonly base?: number;
  readonly bytes?: number;
}

/** Work that takes longer than a statement of the same fuel, by `METER_WEIGHT`, as work on data does. */
function heavy(amount: number, per: number, { base = 0, bytes = 0 }: Extra = {}): Work {
  return { base, fuel: amount, per, time: METER_WEIGHT * amount, bytes };
}

/** Work whose time was measured: that of `statements` for `per` units. Without `fuel` its fuel is paid elsewhere. */
function timed(statements: number, per = 1, fuel = 0): Work {
  return { base: 0, fuel, per, time: statements, bytes: 0 };
}

/** Work that takes the time of its fuel. */
function plain(amount: number, per = 1): Work {
  return timed(amount, per, amount);
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
  concat: heavy(1, DATA_FUEL.concat.amount),
  compare: heavy(1, DATA_FUEL.compare.amount),
  scan: heavy(1, DATA_FUEL.scan.amount),
  /** Units that a tool repeats. */
  repeat: heavy(1, DATA_FUEL.concat.amount),
  /** Units of a beginning or an end that is tested. */
  affix: heavy(1, DATA_FUEL.affix.amount),
  /** Units that are looked through one by one. */
  slowScan: heavy(1, DATA_FUEL.slow.amount),
  number: heavy(1, DATA_FUEL.number.amount),
  text: heavy(1, DATA_FUEL.text.amount),
  json: heavy(1, DATA_FUEL.json.amount),
  copy: heavy(1, DATA_FUEL.copy.amount),
  match: heavy(1, DATA_FUEL.match.amount),
  census: heavy(1, DATA_FUEL.census.amount),
  /** Working out how deep one list or map nests; the unit is one of its items. */
  depth: heavy(1, DATA_FUEL.census.amount, { base: 1 }),

  // Whole items and entries, at the published prices.
  written: heavy(STEP_FUEL.written.amount, 1),
  compared: heavy(STEP_FUEL.compared.amount, 1),
  /** Comparing two lists or maps with each other, their items included. */
  comparedContainers: heavy(STEP_FUEL.compared.amount, 1, { base: 2 * STEP_FUEL.compared.amount }),
  /** An item, entry, line or place in a text that is visited once. */
  visit: heavy(1, 1),

  // Steps that compiled code does not pay for itself.
  hostCall: heavy(STEP_FUEL.host.amount, 1),
  /** Fuel that a nested loop, or a tool on the host, reports to have used. */
  nested: heavy(1, 1),
  /** Raising an error; the unit is a frame of its stack. */
  raise: heavy(1, 1, { base: STEP_FUEL.raise.amount }),
  /** Setting `system_error` for a handler; the unit is a frame of the stack. */
  handle: heavy(STEP_FUEL.written.amount, 1, { base: STEP_FUEL.call.amount }),
  /** Evaluating the name of an event; the unit is an operation. */
  eventName: heavy(1, 1, { base: STEP_FUEL.statement.amount }),

  // The work of single tools.
  sort: heavy(1, 1),
  unique: heavy(1, 1, { bytes: 2 * ITEM }),
  compilePattern: heavy(STEP_FUEL.pattern.amount, 1),
  expandGroup: heavy(1, 1, { bytes: 2 * ITEM }),
  /** One character becomes eighteen at most (U+FDFA). */
  normalize: heavy(1, DATA_FUEL.normalize.amount, { bytes: 18 * 2 }),
  characterSet: heavy(1, DATA_FUEL.copy.amount, { bytes: 64 }),
  utf8: heavy(1, DATA_FUEL.text.amount, { bytes: 3 }),
  fromBase64: heavy(1, DATA_FUEL.text.amount, { bytes: 1 }),
  shortestEdit: heavy(1, DATA_FUEL.match.amount, { bytes: 16 }),

  // Work whose time was measured, and work that takes as long as its fuel says.
  emit: timed(16, 1, STEP_FUEL.said.amount),
  pureCall: timed(16, 1, STEP_FUEL.pureCall.amount),
  /** Characters that are counted or passed one by one. */
  character: plain(1, DATA_FUEL.character.amount),
  /** Line feeds of what is emitted. */
  line: plain(1, DATA_FUEL.line.amount),
  /** The marks of a key of a shape. */
  mark: plain(STEP_FUEL.mark.amount),
  /** A search that works out the groups of a match. */
  groups: plain(STEP_FUEL.groups.amount),
  /** A list of known length that a tool makes, besides its items. */
  list: plain(STEP_FUEL.list.amount),
  templateField: plain(STEP_FUEL.field.amount),
  compile: timed(8),
  /** Making a wide frame; the unit is a byte of it. */
  frame: timed(1, 256),
  /** A round of a loop over characters or items. */
  round: timed(1, 4),
  /** An item that takes as long as a statement. */
  item: timed(1),
  /** `SPACE_UNITS` of a long text that is read as a number or as white space. */
  textPart: timed(1024, 1, STEP_FUEL.space.amount),
  /** A unit of a text that V8 rewrites. */
  rewrite: timed(1024, 1024, STEP_FUEL.rewrite.amount),
  /** A unit of a text that V8 copies before the first of its characters is read. */
  flatten: timed(1, 8192),
  /** A unit of a text that V8 hashes. */
  hash: timed(1, 32),
  /** A unit of two texts of which V8 only asks whether they are the same. */
  sameText: timed(1, DATA_FUEL.same.amount, 1),
  /** A unit of the keys of which V8 asks whether they are a long one. */
  longKey: timed(64, DATA_FUEL.key.amount, 1),
  /** A unit of two texts that V8 compares one after the other: for their order, or for a common beginning. */
  textOrder: timed(1, 32),
  /** A place of `eval` where a field may begin, and a field there. */
  fieldStart: timed(2, 1, STEP_FUEL.fieldStart.amount),
  field: timed(16, 1, STEP_FUEL.field.amount),
  /** An item that is added to a joined text. */
  join: timed(2),
  /** Removing what controls a terminal, once. */
  stripAnsi: timed(16, 1, STEP_FUEL.escape.amount),
  /** A part of a text that is normalized. */
  normalizePart: timed(4096),
  /** An escape in JSON. */
  jsonEscape: timed(4, 1, STEP_FUEL.escape.amount),
  /** A unit of the path of a problem that is reported. */
  problemPath: timed(1, 16),
  /** A name among the groups of a pattern. */
  groupName: timed(1, 8),
  /** An offset that a search keeps at one place of the text. */
  offset: timed(1, 4),
  /** Asking for one property of a character. */
  property: timed(1),
  /** Working out what an automaton does with a character. */
  transition: timed(16),
  /** A step of a search that costs no fuel: those that work out groups, and the last ones of a search that ended early. */
  unpaidMatch: timed(1),
} as const satisfies Record<string, Work>;
