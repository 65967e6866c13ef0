import { HOST_FUEL_PER_MS } from '../wire/costs.ts';
import { internalError, quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { excessOf, frameLimit, frameValues } from '../wire/frames.ts';
import type { AskSpent, GuestFrame, GuestReply, RunInput } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { nowMs } from './node.ts';

/** The worker's end of the pipe to the host, in texts of frames. `read` does not return when the host is gone. */
export interface HostPort {
  read(): string;
  write(text: string): void;
  /** Holds a text until the next one is written, or until a later clock check. */
  hold(text: string): void;
}

/** The parts of a run that the bridge uses. */
type BridgedRun = Pick<RunInput, 'limits' | 'probe'>;

const OUT = 'out';
const PROBE = 'probe';
const ASK = 'ask';
const CALLS: ReadonlySet<string> = new Set(['tool', 'together', 'prompt', ASK]);
const QUESTIONS: ReadonlySet<string> = new Set<GuestReply['t']>(['var.get', 'var.set', 'const']);

/**
 * Passes the guest's frames to the host and the host's answers back, for one run. The guest is untrusted: a text that is no guest
 * frame, comes out of turn or is too large ends the run instead of reaching the pipe. So code in an isolate can neither forge the
 * worker's own frames nor break the alternation.
 */
export class Bridge {
  /** Why the run must end, whatever the guest reports; null while it may continue. */
  breach: ErrorInfo | null = null;
  halted = false;
  /** Milliseconds spent waiting for the host. */
  waitedMs = 0;
  /** CPU time of nested loops, milliseconds; it counts as CPU time of this run. */
  nestedCpuMs = 0;
  readonly #port: HostPort;
  readonly #maxBytes: number;
  readonly #maxValues: number;
  readonly #probed: boolean;
  #asked = false;
  /** Whether the open call runs a nested loop. */
  #nests = false;

  /** Only a measured run (`probe`) may send frames of a probe. */
  constructor(port: HostPort, { limits, probe }: BridgedRun) {
    this.#port = port;
    this.#probed = probe !== undefined;
    this.#maxBytes = frameLimit(limits);
    this.#maxValues = frameValues(limits);
  }

  /**
   * The `host` port of the isolate. After a breach it answers every call with `halt`. When another frame `follows` at once, output
   * is held and sent together with it.
   */
  pass(text: unknown, follows = false): string {
    if (this.breach !== null) return this.#halt(this.breach);
    const kind = typeof text === 'string' ? kindOf(text) : null;
    const expected = this.#asked
      ? kind === 'var'
      : kind === OUT || (kind === PROBE && this.#probed) || (kind !== null && CALLS.has(kind));
    if (typeof text !== 'string' || !expected)
      return this.#halt(internalError(`the interpreter sent a frame '${kind}' where none such may come`));
    // A UTF-16 unit is at most three bytes of UTF-8, so most texts need not be counted.
    if (text.length * 3 > this.#maxBytes && Buffer.byteLength(text) > this.#maxBytes)
      return this.#halt(this.#tooLarge(kind, `does not fit into one frame of ${grouped(this.#maxBytes)} bytes`));
    const excess = excessOf(text, this.#maxValues);
    if (excess !== null) return this.#halt(this.#tooLarge(kind, `has more than ${excess}`));
    if (kind === OUT || kind === PROBE) {
      if (follows) this.#port.hold(text);
      else this.#port.write(text);
      return '';
    }
    this.#port.write(text);
    if (kind !== null && CALLS.has(kind)) this.#nests = kind === ASK;
    return this.#answer();
  }

  #answer(): string {
    const from = nowMs();
    const text = this.#port.read();
    this.waitedMs += nowMs() - from;
    const kind = kindOf(text);
    this.#asked = QUESTIONS.has(kind ?? '');
    this.halted ||= kind === 'halt';
    if (this.#asked) return text;
    if (this.#nests) return this.#paid(text);
    this.nestedCpuMs += workOf(text) / HOST_FUEL_PER_MS;
    return text;
  }

  /**
   * Charges the CPU time of an `ask`, and returns its answer without that time, because the guest pays fuel for the length of an answer.
   */
  #paid(text: string): string {
    const { spent, ...reply }: { readonly spent?: AskSpent } = JSON.parse(text);
    if (spent === undefined) return text;
    this.nestedCpuMs += spent.cpuMs;
    const { fuel, toolCalls } = spent;
    return JSON.stringify({ ...reply, spent: { fuel, toolCalls } });
  }

  #tooLarge(kind: string | null, problem: string): ErrorInfo {
    const limit = kind === OUT ? 'outputBytes' : 'toolBytes';
    const what = kind === OUT ? 'output gathered between two calls' : 'a call to the host';
    return quotaError({ limit, allowed: this.#maxBytes }, `${what} ${problem}`);
  }

  #halt(error: ErrorInfo): string {
    this.breach = error;
    return JSON.stringify({ t: 'halt', error } satisfies GuestReply);
  }
}

const WORK = ',"work":';
/** Units of the end of an answer with work. */
const WORK_UNITS = 32;

/** Fuel of work on the host, with which an answer ends. A value of the program never ends so: the brace of the answer follows it. */
function workOf(text: string): number {
  const end = text.slice(-WORK_UNITS);
  const at = end.lastIndexOf(WORK);
  const work = at < 0 ? 0 : Number(end.slice(at + WORK.length, -1));
  return Number.isNaN(work) ? 0 : work;
}

const HEAD = /^\{"t":"([a-z.]{1,8})"[,}]/;

/**
 * The `t` of a frame as every JSON parser reads it; null when the text is no frame. Frames of the interpreter begin with this field. A
 * search shows that no later field of the same name overrides it, which takes half the time of parsing for large output.
 */
function kindOf(text: string): string | null {
  const head = HEAD.exec(text)?.[1];
  if (head !== undefined && text.indexOf('"t"', 3) < 0 && !text.includes('\\u0074')) return head;
  try {
    const frame: unknown = JSON.parse(text);
    const kind = typeof frame === 'object' && frame !== null ? Reflect.get(frame, 't' satisfies keyof GuestFrame) : null;
    return typeof kind === 'string' ? kind.slice(0, 20) : null;
  } catch {
    return null;
  }
}
