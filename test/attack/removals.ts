import type { Attacker } from './attacks.ts';

/** One check that a build lacks, and the attack that must notice it. */
export interface Removal {
  /** The host's source or the worker's bundle. The text occurs in it once. */
  readonly file: string;
  readonly text: string;
  readonly without: string;
  readonly by: Attacker;
  readonly attack: string;
}

const LEDGER = 'src/sandbox/ledger.ts';
const EXECUTION = 'src/sandbox/execution.ts';
const FRAMES = 'src/wire/frames.ts';
const READERS = 'src/sandbox/readers.ts';
const WORKER_FRAMES = 'src/sandbox/workerframes.ts';
const BRIDGE = 'dist/worker.js';

const from =
  (file: string, by: Attacker) =>
  (attack: string, text: string, without = ''): Removal => ({ file, by, attack, text, without });
const ledger = from(LEDGER, 'guest');
const execution = from(EXECUTION, 'worker');
const measuring = from('src/sandbox/measuring.ts', 'guest');
const claim = 'claims to have used all that a number can hold';

export const REMOVALS: readonly Removal[] = [
  // Each row of the ledger.
  ledger('too many emits', "this.#emits = this.#admit('emits', this.#emits + said);"),
  ledger('too many whispers', "this.#whispers = this.#admit('emits', this.#whispers + whispers.length);"),
  ledger('too many frames without output', 'emits.length + whispers.length === 0 ? 1 : emits.length', 'emits.length'),
  ledger('too much output', "this.#admit('outputBytes', this.#outputBytes + bytes + 1)", 'this.#outputBytes + bytes + 1'),
  ledger('values larger than their texts', "this.#admit('outputBytes', Math.ceil(this.#valueUnits / VALUE_UNITS));"),
  ledger('texts with other texts as values', ' && value.length <= (emits[index]?.length ?? 0)'),
  ledger('a line too long', "this.#admit('lineBytes', Buffer.byteLength(line));", ';'),
  ledger('too much whispered', "this.#admit('scratchBytes', this.#scratchBytes + bytes)", '0'),
  ledger('too long names of targets', 'whisperedBytes(Buffer.byteLength(to), Buffer.byteLength(text))', 'text.length'),
  ledger('too many tool calls', "this.#admit('toolCalls', this.toolCalls + 1);"),
  ledger('too many calls of one tool', "this.#admit('toolCallsPerTool', same)", 'same'),
  ledger('too large arguments', "this.#admit('toolBytes', unitsOf(call));", ';'),
  ledger('too many branches', "this.#admit('togetherCalls', calls.length);"),
  ledger('branches beyond the calls', 'for (const call of calls) this.call(call, 0);'),
  ledger('too large arguments of all branches', 'sum + unitsOf(each)', 'sum'),
  ledger('two branches of one fork', ' || (together !== undefined && number <= this.#forks)'),
  ledger('a branch in the fork of the program', 'together === undefined && '),
  ledger('too large a question', 'jsonUnits(call.prompt) + jsonUnits(call.options)', '0'),
  ledger('more errors of events than deliveries', "this.#admit('deliveries', eventErrors.length);"),
  ledger('too much output, in a turn', 'this.#input.turn && size ? envelopeSizeError : quotaError', 'quotaError'),
  ledger(claim, 'between(this.fuel, Math.floor(claimed.fuel), fuel)', 'claimed.fuel'),
  ledger(claim, 'between(0, Math.floor(claimed.peakMemoryBytes), memoryBytes)', 'claimed.peakMemoryBytes'),
  ledger(claim, 'between(this.toolCalls, claimed.toolCalls, toolCalls)', 'claimed.toolCalls'),
  ledger(claim, 'between(this.#outputBytes, claimed.outputBytes, outputBytes)', 'claimed.outputBytes'),
  ledger('claims to have used nothing', 'between(this.fuel, Math.floor(claimed.fuel), fuel)', 'claimed.fuel'),
  ledger('claims to have used nothing', 'this.#fuel += priceOf(text);'),
  ledger('claims to have used nothing', 'this.#fuel += STEP_FUEL.host.amount', 'this.#fuel += 0'),
  ledger('claims to have used parts of units', 'Math.floor(claimed.fuel)', 'claimed.fuel'),
  {
    ...ledger('claims times that have not passed', 'between(cpuMs, claimed.cpuMs, elapsedMs + cpuMs)', 'claimed.cpuMs'),
    by: 'worker',
  },
  { ...ledger('claims times that have not passed', 'between(0, claimed.wallMs, elapsedMs)', 'claimed.wallMs'), by: 'worker' },
  ledger('a call of another fork', "fork.slice(forkId.length + 1) : ''", "fork.slice(forkId.length + 1) : '1'"),
  ledger('a call of a fork that cannot be', 'number > seq || '),
  // What a breach leads to.
  from(EXECUTION, 'guest')('too many emits', 'this.#worker.retire(breach.message);'),
  // The order of frames.
  execution("'checked' while it runs", "frame.t !== 'var' || this.#calls.open?.answered(frame) !== true", 'false'),
  execution("'var' while it runs", 'this.#calls.open?.answered(frame) !== true', 'this.#calls.open?.answered(frame) === false'),
  execution("'started' while it runs", 'frame.id === this.#id && !announced', 'frame.id === this.#id'),
  execution(
    "'out' before the start",
    'const free = announced && this.#calls.open === null',
    'const free = this.#calls.open === null',
  ),
  execution("'out' while a call is open", 'const free = announced && this.#calls.open === null', 'const free = announced'),
  execution('the result of another run', "frame.t === 'result' && frame.id === this.#id", "frame.t === 'result'"),
  execution('a success before the start', '!this.#clock.announced && frame.result.ok', 'false'),
  from('src/sandbox/calls.ts', 'worker')('the number of an earlier call', 'seq <= this.#lastSeq', 'false'),
  execution('an error that only the host gives', '!isReportable(error)', 'false'),
  execution('computes on after its call', 'setTimeout(() => this.#kill(), graceMs)', 'setTimeout(() => {}, graceMs)'),
  execution('sleeps', 'this.#end(error, this.#calls.open === null ? WALL_MS : HALT_MS)', 'void error'),
  from('src/sandbox/query.ts', 'worker')("'out' while it parses", 'answer === undefined', 'false'),
  from('src/sandbox/query.ts', 'worker')("'parsed' while it foresees", "frame.t === 'foreseen'", 'true'),
  from('src/sandbox/watchdog.ts', 'worker')('grows', 'memoryBreach(run) ?? cpuBreach(run)', 'cpuBreach(run)'),
  from('src/sandbox/watchdog.ts', 'worker')('computes without end', 'memoryBreach(run) ?? cpuBreach(run)', 'memoryBreach(run)'),
  // The report of a measured run.
  measuring('tells more frames of a measured run than the limit', 'this.#frames.length + frames.length > most', 'false'),
  measuring('tells more nodes of a measured run than the limit', 'index >= most', 'false'),
  measuring('tells more events of a measured run than the limit', 'this.#begun > most', 'false'),
  // The form of frames.
  from(FRAMES, 'worker')('a frame larger than the limits allow', 'if (length > maxBytes) throw', 'if (false) throw'),
  from(FRAMES, 'worker')('more values than a frame may have', 'if (values > maxValues) throw', 'if (false) throw'),
  from(FRAMES, 'worker')('more keys in one map than a frame may have', 'if (keys > MAX_MAP_KEYS) throw', 'if (false) throw'),
  from('src/sandbox/query.ts', 'worker')(
    'a report of more values',
    'MAX_REPORT_BYTES, MAX_FRAME_VALUES',
    'MAX_REPORT_BYTES, 2e9',
  ),
  from('src/sandbox/query.ts', 'worker')(
    'a report larger than any',
    'MAX_REPORT_BYTES, MAX_FRAME_VALUES',
    '2e9, MAX_FRAME_VALUES',
  ),
  from(FRAMES, 'worker')('an empty frame', 'if (length === 0) throw', 'if (false) throw'),
  from('src/wire/frametext.ts', 'worker')('no UTF-8', 'fatal: true', 'fatal: false'),
  from(FRAMES, 'worker')('a value nested without end', 'if (depth > MAX_FRAME_DEPTH) throw', 'if (false) throw'),
  from(READERS, 'worker')('less than nothing left', 'number >= 0 ? number', 'number === number ? number'),
  from(READERS, 'worker')('half a call left', 'Number.isSafeInteger(value)', 'true'),
  from(READERS, 'worker')('more used than numbers hold', ' && value < Number.POSITIVE_INFINITY'),
  from(READERS, 'worker')('a call at line 0', 'number >= 1', 'true'),
  from(WORKER_FRAMES, 'worker')('more values than emits', 'frame.emits.length !== frame.values.length', 'false'),
  from(WORKER_FRAMES, 'worker')('a failure without an error', 'read.ok !== (read.error === null)', 'false'),
  from(WORKER_FRAMES, 'worker')('a stack without end', 'atMost(MAX_STACK, listOf(stackFrame))', 'listOf(stackFrame)'),
  // The bridge in the worker.
  from(BRIDGE, 'guest')("forges 'result'", 'typeof e!==`string`||!s', 'false'),
  from(BRIDGE, 'guest')('hides the type behind another', '&&e.indexOf(`"t"`,3)<0'),
  from(BRIDGE, 'guest')('hides the type in escapes', '&&!e.includes(`\\\\u0074`)'),
];
