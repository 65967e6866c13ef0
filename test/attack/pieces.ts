import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector';

/** The longest uninterrupted piece of work of an event loop. */
export interface Piece {
  /** CPU milliseconds of the thread, without the garbage collector and without the system's work to start a process. */
  readonly workMs: number;
  /** CPU milliseconds of the garbage collector within the piece. It collects for the whole process whenever memory is short. */
  readonly collectedMs: number;
  /** CPU milliseconds in which the system started processes. They grow with the memory of this process, not with a program's data. */
  readonly spawnedMs: number;
  /** The functions that took most of it, with what of this repository called them. */
  readonly doing: readonly string[];
}

/** A piece by the clocks of `performance.now` and of the scheduler, milliseconds. */
interface Span {
  readonly from: number;
  readonly to: number;
  readonly cpuMs: number;
}

/** A sample of the profiler: the functions on the stack, the innermost first, and how long it stands for. */
interface Sample {
  readonly at: number;
  readonly ms: number;
  readonly stack: readonly Profiler.ProfileNode[];
}

/** Pieces of a part that are kept for the profile. */
const KEPT = 8;
const SAMPLE_MICROSECONDS = 500;
const SHOWN = 3;

/** CPU milliseconds of this thread, by the scheduler's own clock: what processes count otherwise moves in steps. */
export function threadMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

/** CPU milliseconds of a loop of fixed length: the unit of the longest piece. It takes longer where other processes share the core. */
export function calibration(): number {
  const before = threadMs();
  let state = 1;
  for (let step = 0; step < 1_000_000; step++) state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + step;
  return state === 0 ? 0 : threadMs() - before;
}

/**
 * Measures the CPU time between two rounds of the event loop of this thread, in parts, and says what the longest piece of a part
 * consisted of. The time that other processes take does not count. The profile of a part is evaluated between two parts.
 */
export class PieceWatch implements Disposable {
  readonly #session = new Session();
  readonly #timer: NodeJS.Timeout;
  #cpu = 0;
  #wall = 0;
  #longest: readonly Span[] = [];

  constructor() {
    this.#session.connect();
    this.#session.post('Profiler.enable');
    this.#session.post('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
    this.#session.post('Profiler.start');
    this.#timer = setInterval(() => this.#round(), 1);
    this.#restart();
  }

  /** Ends a part and begins the next one. Null when nothing was measured. */
  part(): Piece | null {
    const samples = this.#samples();
    const pieces = this.#longest.map((span) => pieceOf(span, samples)).sort((a, b) => b.workMs - a.workMs);
    this.#longest = [];
    this.#session.post('Profiler.start');
    this.#restart();
    return pieces[0] ?? null;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#session.disconnect();
  }

  #restart(): Span {
    const span = { from: this.#wall, to: performance.now(), cpuMs: threadMs() - this.#cpu };
    this.#cpu = threadMs();
    this.#wall = performance.now();
    return span;
  }

  #round(): void {
    const span = this.#restart();
    if (span.cpuMs <= (this.#longest[KEPT - 1]?.cpuMs ?? 0)) return;
    this.#longest = [...this.#longest, span].sort((a, b) => b.cpuMs - a.cpuMs).slice(0, KEPT);
  }

  #samples(): readonly Sample[] {
    let profile: Profiler.Profile | undefined;
    const end = performance.now();
    this.#session.post('Profiler.stop', (_error, result) => {
      profile = result?.profile;
    });
    if (profile === undefined) throw new Error('there is no profile');
    const { nodes, samples = [], timeDeltas = [], startTime, endTime } = profile;
    const byId = new Map(nodes.map((node) => [node.id, node]));
    const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
    let clock = startTime;
    return samples.map((id, index) => {
      const micros = timeDeltas[index] ?? 0;
      clock += micros;
      const stack: Profiler.ProfileNode[] = [];
      for (let next: number | undefined = id; next !== undefined; next = parents.get(next)) {
        const node = byId.get(next);
        if (node !== undefined) stack.push(node);
      }
      return { at: end - (endTime - clock) / 1000, ms: micros / 1000, stack };
    });
  }
}

/** Divides the CPU time of a piece as the samples within it are divided. */
function pieceOf({ from, to, cpuMs }: Span, samples: readonly Sample[]): Piece {
  const busy = samples.filter(({ at, stack }) => at >= from && at <= to && stack[0]?.callFrame.functionName !== '(idle)');
  const total = busy.reduce((sum, { ms }) => sum + ms, 0);
  const times = new Map<string, number>();
  let collected = 0;
  let spawned = 0;
  for (const { ms, stack } of busy) {
    const { functionName, url } = stack[0]?.callFrame ?? { functionName: '', url: '' };
    if (functionName === '(garbage collector)') collected += ms;
    else if (functionName === 'spawn' && url === '') spawned += ms;
    else times.set(nameOf(stack), (times.get(nameOf(stack)) ?? 0) + ms);
  }
  const share = total === 0 ? 0 : cpuMs / total;
  const doing = [...times].sort(([, a], [, b]) => b - a).slice(0, SHOWN);
  return {
    workMs: cpuMs - (collected + spawned) * share,
    collectedMs: collected * share,
    spawnedMs: spawned * share,
    doing: doing.map(([name, ms]) => `${(ms * share).toFixed(1)} ms ${name}`),
  };
}

/** The innermost function, and the innermost one of this repository. */
function nameOf(stack: readonly Profiler.ProfileNode[]): string {
  const own = stack.find(({ callFrame: { url } }) => url.includes('/src/') && !url.includes('/node_modules/'));
  const test = stack.findLast(({ callFrame: { url } }) => url.includes('/test/attack/'));
  return [...new Set([stack[0], own, test])].flatMap((node) => (node === undefined ? [] : [placeOf(node)])).join(' of ');
}

function placeOf({ callFrame: { functionName, url } }: Profiler.ProfileNode): string {
  const file = url.replace(/^.*\/(?=[^/]+\/[^/]+$)/, '');
  return `${functionName === '' ? '(anonymous)' : functionName}${file === '' ? '' : ` (${file})`}`;
}
