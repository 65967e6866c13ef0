import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { isMonstrous, parsedJson } from '../../files/json.ts';
import { type Line, splitLines } from '../../files/lines.ts';
import { killOnExit, signalChild } from '../../sandbox/index.ts';
import { type Expectation, KIT_FORMAT, type Vector } from './vectors.ts';

export interface VectorResult {
  readonly vector: Vector;
  readonly outcome: 'passed' | 'failed' | 'unsupported';
  /** The difference in words; null unless it failed. */
  readonly why: string | null;
}

export interface KitReport {
  /** The name that the implementation gives itself. */
  readonly implementation: string;
  readonly verdicts: readonly VectorResult[];
}

export interface KitOptions {
  /** A command line for the shell. The command must speak the protocol of the kit over standard input and output. */
  readonly command: string;
  readonly answerMs: number;
  readonly signal: AbortSignal;
}

/** The implementation does not speak the protocol of the kit. */
export class KitError extends Error {}

/**
 * Sends every vector to an implementation, one after the other, and judges the answers. Restarts an implementation that ends,
 * times out or answers nonsense. Rejects with {@link KitError} when the greeting fails.
 */
export async function runKit(
  vectors: readonly Vector[],
  options: KitOptions,
  onVerdict: (done: number) => void = () => {},
): Promise<KitReport> {
  let peer = new Peer(options);
  try {
    const implementation = await askName(peer);
    const verdicts: VectorResult[] = [];
    for (const vector of vectors) {
      options.signal.throwIfAborted();
      const verdict = await judge(vector, peer);
      verdicts.push(verdict);
      onVerdict(verdicts.length);
      if (!peer.broken) continue;
      await peer.close();
      peer = new Peer(options);
      await askName(peer);
    }
    return { implementation, verdicts };
  } finally {
    await peer.close();
  }
}

async function askName(peer: Peer): Promise<string> {
  try {
    const answer = await peer.ask('hello', { format: KIT_FORMAT });
    if ('ok' in answer && answer.ok['format'] === KIT_FORMAT) return String(answer.ok['implementation'] ?? 'unnamed');
    throw new PeerError(`it answered the greeting with ${JSON.stringify(answer).slice(0, 120)}`);
  } catch (error) {
    if (error instanceof PeerError) throw new KitError(`the command does not speak the protocol of the kit: ${error.message}`);
    throw error;
  }
}

async function judge(vector: Vector, peer: Peer): Promise<VectorResult> {
  try {
    const answer = await peer.ask(vector.op, vector.input);
    if ('unsupported' in answer) return { vector, outcome: 'unsupported', why: null };
    const why = differenceOf(vector.expect, answer);
    return { vector, outcome: why === null ? 'passed' : 'failed', why };
  } catch (error) {
    if (error instanceof PeerError) return { vector, outcome: 'failed', why: error.message };
    throw error;
  }
}

/** The implementation violated the protocol; the message says how. */
class PeerError extends Error {}

/** One process of the implementation. */
class Peer {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<Line>;
  readonly #answerMs: number;
  readonly #signal: AbortSignal;
  readonly #ended: Promise<string>;
  readonly #forget: () => void;
  #id = 0;
  #broken = false;

  constructor({ command, answerMs, signal }: KitOptions) {
    this.#answerMs = answerMs;
    this.#signal = signal;
    // Detached, in a process group of its own, so that a kill also ends the children of the shell.
    this.#child = spawn(command, { shell: true, stdio: ['pipe', 'pipe', 'inherit'], detached: true });
    this.#forget = killOnExit(() => signalChild(this.#child));
    const { stdin, stdout } = this.#child;
    if (stdin === null || stdout === null) throw new TypeError('a child process was started without pipes');
    // Writing to an ended process fails; the report says how the process ended.
    stdin.on('error', () => {});
    this.#lines = splitLines(stdout, ANSWER_BYTES);
    this.#ended = new Promise((resolve) => {
      this.#child.once('error', (error) => resolve(`it cannot be started: ${error.message}`));
      this.#child.once('exit', (code, by) => resolve(`it ended (${by === null ? `exit code ${code}` : by})`));
    });
  }

  /** Whether the next request needs a new process. */
  get broken(): boolean {
    return this.#broken;
  }

  async ask(op: string, input: unknown): Promise<Answer> {
    const id = this.#id++;
    this.#child.stdin?.write(`${JSON.stringify({ id, op, input })}\n`);
    try {
      return this.#read(id, await this.#line());
    } catch (error) {
      this.#broken = true;
      throw error;
    }
  }

  async #line(): Promise<string> {
    const late = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#answerMs)]);
    const given = Promise.withResolvers<never>();
    const give = (): void => given.reject(new PeerError(`it did not answer within ${this.#answerMs} ms`));
    late.addEventListener('abort', give, { once: true });
    try {
      const line = await Promise.race([this.#lines.next(), given.promise]);
      if (line.done === true) throw new PeerError(await this.#ended);
      if (line.value === null) throw new PeerError(`it wrote a line of more than ${ANSWER_BYTES} bytes`);
      return line.value.toString();
    } finally {
      late.removeEventListener('abort', give);
      this.#signal.throwIfAborted();
    }
  }

  #read(id: number, line: string): Answer {
    if (isMonstrous(line)) throw new PeerError('it wrote a line that nests too deep, or has too many values');
    const value = parsedJson(line);
    if (value === undefined) throw new PeerError(`it wrote a line that is not JSON: ${line.slice(0, 80)}`);
    const answer = answerSchema.safeParse(value);
    if (!answer.success) throw new PeerError(`it wrote a line that is not an answer: ${line.slice(0, 80)}`);
    if (answer.data.id !== id) throw new PeerError(`it answered request ${answer.data.id} instead of ${id}`);
    return answer.data;
  }

  /** Ends the process and its children. */
  async close(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid !== undefined && exitCode === null && signalCode === null) {
      const exit = once(this.#child, 'exit');
      this.#child.stdin?.end();
      const kill = setTimeout(() => signalChild(this.#child), CLOSE_MS);
      await exit;
      clearTimeout(kill);
    }
    signalChild(this.#child);
    this.#forget();
  }
}

const ANSWER_BYTES = 16 * 1024 * 1024;

/** Milliseconds that an implementation may take to exit after its input ends. */
const CLOSE_MS = 500;

/** An implementation's answer to one request. */
export const answerSchema = z.union([
  z.object({ id: z.number(), ok: z.record(z.string(), z.unknown()) }),
  z.object({ id: z.number(), error: z.string(), message: z.string().optional() }),
  z.object({ id: z.number(), unsupported: z.literal(true) }),
]);

type Answer = z.infer<typeof answerSchema>;

/** Null for the expected answer, else the difference in words. */
export function differenceOf(expected: Expectation, answer: Answer): string | null {
  if ('unsupported' in answer) return null;
  if ('accepted' in expected) return 'ok' in answer ? null : `expected acceptance, got the error ${answer.error}`;
  if ('error' in expected) {
    const codes = typeof expected.error === 'string' ? [expected.error] : expected.error;
    const wanted = codes.includes('any') ? 'an error' : codes.join(' or ');
    if ('ok' in answer) return `expected ${wanted}, got acceptance: ${shortened(answer.ok)}`;
    return codes.includes('any') || codes.includes(answer.error) ? null : `expected ${wanted}, got ${answer.error}`;
  }
  if ('error' in answer) return `expected acceptance, got the error ${answer.error}`;
  const wrong = Object.entries(expected.ok).filter(([name, value]) => !same(value, answer.ok[name]));
  if (wrong.length === 0) return null;
  return wrong.map(([name, value]) => `${name}: expected ${shortened(value)}, got ${shortened(answer.ok[name])}`).join('; ');
}

/** Compares JSON values; the order of members does not matter. */
function same(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return Array.isArray(a) && Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  const [left, right] = [Object.entries(a), new Map(Object.entries(b))];
  return left.length === right.size && left.every(([name, value]) => right.has(name) && same(value, right.get(name)));
}

function shortened(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length <= 120 ? text : `${text.slice(0, 117)}…`;
}
