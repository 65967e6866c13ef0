import { internalError, quotaError } from '../wire/errorinfo.ts';
import type { ErrorInfo } from '../wire/errors.ts';
import { frameLimit } from '../wire/frames.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { AskSpent, GuestFrame, GuestReply } from '../wire/protocol.ts';

/** The worker's end of the pipe to the host, as texts of frames. `read` does not return when the host is gone. */
export interface HostPort {
  read(): string;
  write(text: string): void;
  /** Writes it with the next text, or at one of the next looks at the clocks. */
  hold(text: string): void;
}

const OUT = 'out';
const ASK = 'ask';
const CALLS: ReadonlySet<string> = new Set(['tool', 'prompt', ASK]);
const QUESTIONS: ReadonlySet<string> = new Set<GuestReply['t']>(['var.get', 'var.set', 'const']);

/**
 * Passes the guest's frames on to the host and the host's answers back, for one run. The guest counts as untrusted here:
 * what is no guest frame, comes out of turn or is too large never reaches the pipe; it ends the run instead. So nothing
 * in an isolate can forge the worker's own frames or break the alternation.
 */
export class Bridge {
  /** Why the run must end, whatever the guest says it did. */
  breach: ErrorInfo | null = null;
  /** Milliseconds spent waiting for the host. */
  waitedMs = 0;
  /** CPU time of nested loops, milliseconds: it counts as this run's own. */
  nestedCpuMs = 0;
  readonly #port: HostPort;
  readonly #maxBytes: number;
  #asked = false;
  /** Whether the open call is one that runs a nested loop. */
  #nests = false;

  constructor(port: HostPort, limits: LimitValues) {
    this.#port = port;
    this.#maxBytes = frameLimit(limits);
  }

  /**
   * The isolate's `host` port. Once the run is to end, every call is answered with that. Output that something else `follows` at
   * once goes out together with it.
   */
  pass(text: unknown, follows = false): string {
    if (this.breach !== null) return this.#halt(this.breach);
    const kind = typeof text === 'string' ? kindOf(text) : null;
    const expected = this.#asked ? kind === 'var' : kind === OUT || (kind !== null && CALLS.has(kind));
    if (typeof text !== 'string' || !expected)
      return this.#halt(internalError(`the interpreter sent a frame '${kind}' where none such may come`));
    // A UTF-16 unit is at most three bytes of UTF-8: most texts need no count.
    if (text.length * 3 > this.#maxBytes && utf8Bytes(text) > this.#maxBytes) return this.#halt(this.#tooLarge(kind));
    if (kind === OUT) {
      if (follows) this.#port.hold(text);
      else this.#port.write(text);
      return '';
    }
    this.#port.write(text);
    if (kind !== null && CALLS.has(kind)) this.#nests = kind === ASK;
    return this.#answer();
  }

  #answer(): string {
    const from = performance.now();
    const text = this.#port.read();
    this.waitedMs += performance.now() - from;
    this.#asked = QUESTIONS.has(kindOf(text) ?? '');
    return this.#nests && !this.#asked ? this.#paid(text) : text;
  }

  /**
   * The answer to an `ask`: CPU time is charged here, and the guest sees of what was spent only what it charges itself. An answer
   * costs fuel for its length, which must not depend on times.
   */
  #paid(text: string): string {
    const { spent, ...reply }: { readonly spent?: AskSpent } = JSON.parse(text);
    if (spent === undefined) return text;
    this.nestedCpuMs += spent.cpuMs;
    const { fuel, toolCalls } = spent;
    return JSON.stringify({ ...reply, spent: { fuel, toolCalls } });
  }

  #tooLarge(kind: string | null): ErrorInfo {
    const limit = kind === OUT ? 'outputBytes' : 'toolBytes';
    const what = kind === OUT ? 'output gathered between two calls' : 'a call to the host';
    const message = `${what} does not fit into one frame of ${this.#maxBytes} bytes`;
    return quotaError({ limit, allowed: this.#maxBytes }, message);
  }

  #halt(error: ErrorInfo): string {
    this.breach = error;
    return JSON.stringify({ t: 'halt', error } satisfies GuestReply);
  }
}

const HEAD = /^\{"t":"([a-z.]{1,8})"[,}]/;

/**
 * The `t` of a frame as any JSON parser will see it; null when the text is no frame at all. A frame of the interpreter has it in
 * front; that no later field of the same name overrides it shows without parsing, which for large output saves half the time.
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

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}
