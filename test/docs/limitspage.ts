import { quantity } from '../../src/report/index.ts';
import {
  DATA_FUEL,
  MAX_NESTING,
  MAX_PADDING,
  METER_INTERVAL,
  METER_WEIGHT,
  STEP_FUEL,
  VALUE_BYTES,
} from '../../src/wire/costs.ts';
import {
  breachOf,
  findLimit,
  LIMITS,
  type LimitRow,
  POOL_LIMITS,
  TENANT_LIMITS,
  type TenantLimit,
} from '../../src/wire/limits.ts';
import { table } from './table.ts';

/** Where the page stands, from the root of the repository. */
export const LIMITS_PAGE = 'docs/limits.md';

type Costs = Readonly<Record<string, { readonly amount: number; readonly per: string }>>;

/** The text of `docs/limits.md`, made from the table of limits and the cost tables. */
export function limitsPage(): string {
  return `# Limits and costs

This page is generated from the tables of limits and prices that the runtime uses.

## Limits

Every limit of a run always applies. A fork, a request or a turn can only tighten the limits of its runtime. A value that
cannot be enforced (below the least, above the most, or not a whole number) is refused at configuration and never ignored.

${table(
  ['limit', 'flag', 'default', 'in a turn', 'least', 'most', 'ring', 'breach', 'caught?', 'counts'],
  [...LIMITS, ...POOL_LIMITS].map(limitRow),
)}

- **Units.** The flags take \`B KB MB GB\` (powers of 1024; \`KiB\` and so on are the same) and \`ms s m\`; a count takes no unit.
  In the API and in requests every limit is a plain number of bytes, milliseconds or units, under its name.
- **Where limits are set.** In \`limits\` of \`createRuntime\`, of a fork, of one run and of a request, and by the flags. The lowest
  value applies. The last three rows are limits of a whole runtime: only \`createRuntime\` and the flags take them.
- **Ring** says which part enforces the limit: 1 the interpreter, before it allocates; 2 the isolate; 3 the host process.
- **Breach.** \`on error\` can handle \`NS37\`. The other breaches end the run, and no script sees them. The error names the limit, the
  allowed amount, and the amount including the refused step. \`usage\` of the result has the amount that was used. It never exceeds
  the limit, except that times may exceed theirs by a moment. In a turn, output beyond a size of the protocol is
  \`ERR_ENV_SIZE\`.
- **One frame** between a program and the host (a call's arguments, a result, output between two calls) has at most 1,000,000 values,
  in which a key of a map counts as three more, and at most 16,384 keys in one map: the host must not compute for long on one of them.
  With less than 32 MB of \`journalBytes\` it has one value for every 32 bytes of them, but always 65,536, because the host holds values in
  many times the bytes of their JSON. More is a breach of \`toolBytes\` or \`outputBytes\`.
- **Sizes of single values** (\`valueBytes\` to \`mapLength\`) are checked before the value exists, whether it comes from a program, a
  tool, a global, an argument or an event. A part counts at every place where it occurs: a list that holds another list twice is as
  large as if it held two copies.
- The clocks for CPU time and elapsed time are checked at least every ${grouped(METER_INTERVAL)} units of fuel, and ${METER_WEIGHT} times as often where the fuel is
  for data.

## How limits add up

- **Calls that run together** share every limit of their run; only \`toolMs\`, and \`toolBytes\` for results, are for each of them. Before a call
  begins it reserves the largest result of its tool (\`maxResultBytes\`, else 1 KB for a number, a boolean, a time or nil, else an equal
  share of half of \`journalBytes\`), and what does not fit into \`journalBytes\` waits. One call always goes on. So results that wait to be
  recorded exceed \`journalBytes\` by at most one result for each level at which tools call tools. What a tool holds before it answers
  is its own, unless it reserves it. The first breach ends the other calls; work on the host that has begun goes on for one piece.
- **The programs of an \`ask\`** have what their caller has left of ${LIMITS.filter(({ shared }) => shared === true)
    .map(({ key }) => `\`${key}\``)
    .join(', ')}.
  Each has the other limits for itself; one runs at a time, at most four deep.
- **Sessions.** Each run has its own limits. A runtime holds at most \`maxWorkers\` times their sum, and computes for \`concurrency\` runs at once.
  The budgets of [tenants](embedding.md#budgets) bound runs together.

## Tenants

\`tenants\` of \`createRuntime\` sets these for every tenant and for each one ([tenants](embedding.md#tenants)); a run gives its own with
\`tenant: { id, … }\`. In an error, \`limit\` is the name in the first column.

${table(['limit', 'option', 'default', 'least', 'most', 'breach', 'counts'], TENANT_LIMITS.map(tenantRow))}

## Fixed limits

Some limits are part of the language and cannot be changed: nesting in the source deeper than 200 is a syntax error; a write
more than ${grouped(MAX_PADDING)} items beyond the end of a list is code 8; a list or map nested deeper than ${MAX_NESTING} levels cannot be turned into
text, compared or given to a tool (code 37).

## Fuel

The same program with the same input spends the same fuel on every machine. Fuel follows time: the dearest step takes at most 100 times as
long for a unit as the cheapest (\`npm run prove\` measures it).

### Steps

The interpreter charges a statement and every operation in it before the statement starts, including operations that \`and\`,
\`or\` or an error then skips. The other rows, from errors on, are charged when their work is about to be done; the 4 of a tool are an
operation.

${table(
  ['fuel', 'for each'],
  costRows(STEP_FUEL, ({ amount, per }) => [String(amount), per]),
)}

### Data

Work that grows with the data costs in proportion: one unit for each full amount in the first column.

${table(
  ['one fuel for', 'what'],
  costRows(DATA_FUEL, ({ amount, per }) => [grouped(amount), per]),
)}

### The exact rules

[conformance/language](../conformance/language/README.md) computes the same fuel from these rules; a test compares the two on generated programs.

- **When.** A statement's charge is its own fuel and that of all its operations; for \`while\`, the operations of the condition belong to
  each pass. The steps of targets are operations, and so is each value of a \`return\` with several. A \`return\` in a handler costs 1.
  \`while\` also pays for the pass that ends it, \`for each\` does not. A call, or the delivery to a handler of an event, is charged together
  with the first statement of the body; a breach of it has the place of the call. Registering a handler costs a statement and the
  operations of the name.
- **Handlers** of errors cost a call and four more for each frame of the stack.
- **Copies.** A list or map is copied before a write when another place holds it, or once held it: a second variable, an item, an
  argument, the collection of a \`for each\`. Looking at a value as an operand, as the base of an access, as a condition or as the argument of a
  built-in function makes no second place, and a local variable that is returned gives its place up. Items become shared when their list
  or map is copied, joined, destructured or run through. The copy of an element takes its place at once, even if a later step of the write fails. The latest value of a statement is a place as well, while it is the latest one: at the
  top level of a procedure, because it may become the result; elsewhere only if the procedure, handler or command blocks name \`last\`
  outside of a \`return\` in a handler of errors.
- **Reading numbers.** Texts of up to 16 units are free. All operators read both sides, except that \`+\` reads the right side only when the left
  one is numeric, and \`*\` reads nothing when it repeats. An index that creates a list is read twice.
- **Joining** costs nothing when the shorter side has up to 64 units. When the result has 1,024 units or more and its length passes an eighth of a
  power of two, the whole result counts instead of the shorter side. Comparing texts with \`==\` is free up to 64 units and for different lengths,
  \`len\` up to 64, an index below 64.
- **Printing** charges lists and maps from the outside in, then the text; what nests too deep is refused when it is reached, before its own
  charge as text, after it as JSON. An output counts each line for itself, then its text as a JSON string, then, if
  it is not a text, its value as JSON. Both parts of a whisper count as output and as JSON strings.
- **Entering values** (globals, arguments, payloads with a handler, lines) cost four for each item or entry, and every text in them counts
  as JSON for itself, as does the name of a number that JSON lacks (\`-Infinity\`). An answer of the host counts 19 units more than its JSON, an
  error of the host the JSON of the whole answer. An error value is read and written as the map of its fields.
- **Calls that run together** cost one for the statement around them, and each of them a statement with its operations, at the place of the call.
  The prices of all calls, and the answers as one JSON text, are charged at the place of the block, before the first result is stored.
- **Long texts** may be free where they were looked through before: the interpreter remembers some texts of more than 32 units that spell no
  number, and some of more than 64 units whose characters were counted. Implementations need not, so the conformance suite
  compares no fuel of programs that look through such texts. A list or map whose text has more than 500 units, or whose JSON has 1,000 or more, may
  be counted in parts, each rounded down. A list or text that is too long may first cost what counting the memory costs.

## Memory

A value counts towards \`memoryBytes\` with the approximate memory that it takes. A list or map counts once; a text counts once
for every place that holds it.

${table(
  ['bytes', 'for each'],
  costRows(VALUE_BYTES, ({ amount, per }) => [String(amount), per]),
)}
`;
}

function tenantRow(limit: TenantLimit): string[] {
  const { key, option, min, max, help } = limit;
  const usual = limit.default === null ? 'none' : amount(limit, limit.default);
  return [`\`${key}\``, `\`${option}\``, usual, amount(limit, min), amount(limit, max), breachOf(limit), help];
}

function limitRow(limit: LimitRow): string[] {
  const { key, flag, min, max, ring, turnDefault, help } = limit;
  const usual = limit.default === null ? 'cores' : amount(limit, limit.default);
  const turn = turnDefault === undefined ? '' : amount(limit, turnDefault);
  const caught = findLimit(key) === undefined ? '' : limit.breach === 'NS37' ? 'yes' : 'no';
  const range = [amount(limit, min), amount(limit, max)];
  return [`\`${key}\``, `\`--${flag}\``, usual, turn, ...range, String(ring), breachOf(limit), caught, help];
}

function amount({ unit }: Pick<LimitRow, 'unit'>, value: number): string {
  return unit === 'count' ? grouped(value) : quantity(unit, value);
}

function costRows(costs: Costs, row: (cost: Costs[string]) => string[]): string[][] {
  return Object.values(costs).map(row);
}

function grouped(value: number): string {
  return String(value).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** The schema whose limits are generated, from the root of the repository. */
export const REQUEST_SCHEMA = 'docs/schemas/request.schema.json';

/** The text of that schema with the properties of its `limits` made from the table. */
export function requestSchema(text: string): string {
  const rows = LIMITS.map(({ key, min }) => {
    const type = min === 0 ? '{ "type": "integer", "minimum": 0 }' : '{ "$ref": "#/$defs/limit" }';
    return `        "${key}": ${type}`;
  });
  return text.replace(
    /("limits": \{[^{]*"properties": \{\n)[\s\S]*?(\n {6}\})/,
    (_, before, after) => before + rows.join(',\n') + after,
  );
}
