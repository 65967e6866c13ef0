import { WireError } from '../wire/errors.ts';
import type { FlameNode, HeatFrame, RunProfile, Step, Trace } from '../wire/heat.ts';
import type { ProbeFrame, RunInput } from '../wire/protocol.ts';
import { grouped } from '../wire/text/grouped.ts';
import { type Counted, heatOf } from './heat.ts';

/** Rows of the lists of a frame. */
const ROW = { marks: 3, nodes: 5, spent: 4 } as const;

const RUN: HeatFrame = { kind: 'host', name: 'run', source: null, line: null };

/**
 * Collects a worker's reports about a measured run. The worker is not trusted: a report that no interpreter sends is a violation, and
 * nothing grows beyond the limit `traceEvents`.
 */
export class Measuring {
  readonly #input: RunInput;
  readonly #frames: HeatFrame[] = [];
  readonly #nodes: FlameNode[] = [];
  readonly #counted: Counted[] = [];
  readonly #marks = new Marks();
  #begun = 0;
  #open = 0;
  #end: ProbeFrame['end'];

  constructor(input: RunInput) {
    this.#input = input;
  }

  /** Takes a part. Throws {@link WireError} for one that no interpreter sends. */
  add({ frames, marks, nodes, spent, end }: ProbeFrame): void {
    if (this.#end !== undefined) throw new WireError('a part of the heat came after the last one');
    const most = this.#input.limits.traceEvents;
    if (this.#frames.length + frames.length > most) throw new WireError(`the heat has more than ${most} frames`);
    if (frames.length + marks.length + nodes.length + spent.length === 0 && end === undefined)
      throw new WireError('a part of the heat is empty');
    for (const frame of frames) this.#frames.push(frame);
    for (const [frame = -1, us = 0, fuel = 0] of rows(marks, ROW.marks)) this.#mark(frame, us, fuel);
    for (const [frame = -1, parent = -1, count = 0, fuel = 0, us = 0] of rows(nodes, ROW.nodes)) {
      const index = this.#nodes.length;
      if (index >= most) throw new WireError(`the heat has more than ${most} nodes`);
      if (index > 0 && parent >= index) throw new WireError(`node ${index} of the heat stands before node ${parent} around it`);
      this.#nodes.push({
        frame: this.#known(frame),
        parent: index === 0 ? null : amount(parent),
        count,
        fuel: amount(fuel),
        us: amount(us),
      });
    }
    for (const [frame = -1, visits = 0, fuel = 0, us = 0] of rows(spent, ROW.spent)) {
      if (this.#counted.length >= this.#frames.length) throw new WireError('the heat counts more than its frames');
      this.#counted.push({ frame: this.#known(frame), visits: amount(visits), fuel: amount(fuel), us: amount(us) });
    }
    this.#end = end;
  }

  /** Throws {@link WireError} for an account of more fuel than the run has used. */
  check(fuel: number): void {
    for (const part of [this.#nodes, this.#counted])
      if (sumOf(part) > fuel) throw new WireError(`the heat of ${sumOf(part)} fuel is more than the ${fuel} of the run`);
  }

  /** The profile of a run that used this fuel. Fuel that the worker did not report is listed outside of all lines. */
  profile(fuel: number): RunProfile {
    const frames = this.#frames.length === 0 ? [RUN] : this.#frames;
    const [root = { frame: 0, parent: null, count: 1, fuel: 0, us: 0 }, ...nodes] = this.#nodes;
    const rest = Math.max(0, fuel - sumOf(this.#nodes));
    const missing = Math.max(0, fuel - sumOf(this.#counted));
    const account = {
      frames,
      nodes: [{ ...root, fuel: root.fuel + rest }, ...nodes],
      counted: [...this.#counted, { frame: 0, visits: 0, fuel: missing, us: 0 }],
      steps: this.#end?.steps ?? 0,
      notices: this.#notices(),
    };
    const sources = this.#input.sources.map(({ name }) => name);
    return { heat: heatOf(account, sources), trace: this.#trace(), step: this.#step() };
  }

  #known(frame: number): number {
    if (frame < 0 || frame >= this.#frames.length) throw new WireError(`the heat has no frame ${frame}`);
    return frame;
  }

  #mark(frame: number, us: number, fuel: number): void {
    const most = this.#input.limits.traceEvents;
    if (frame === -1) this.#open--;
    else {
      this.#known(frame);
      this.#open++;
      this.#begun++;
    }
    if (this.#open < 0) throw new WireError('a trace ends what has not begun');
    if (this.#begun > most) throw new WireError(`a trace has more than ${most} events`);
    this.#marks.push(frame, amount(us), amount(fuel));
  }

  #trace(): Trace | null {
    return this.#input.probe?.trace === true ? { frames: this.#frames, ...this.#marks.columns() } : null;
  }

  #step(): Step | null {
    return this.#input.probe?.at === undefined ? null : (this.#end?.step ?? null);
  }

  #notices(): readonly string[] {
    if (this.#end === undefined) return ['the worker was ended before it reported where the run spent its fuel'];
    const { unmarked, folded } = this.#end;
    const { traceEvents } = this.#input.limits;
    return [
      ...(unmarked === 0
        ? []
        : [
            `the trace lacks ${grouped(unmarked)} of ${grouped(unmarked + this.#begun)} statements and calls (limit traceEvents: ${grouped(traceEvents)})`,
          ]),
      ...(folded === 0
        ? []
        : [`${folded} statements and calls count for those around them (limit traceEvents: ${traceEvents} lines and paths)`]),
    ];
  }
}

function* rows(numbers: readonly number[], length: number): Generator<readonly number[]> {
  if (numbers.length % length !== 0) throw new WireError(`a list of the heat is not in rows of ${length}`);
  for (let from = 0; from < numbers.length; from += length) yield numbers.slice(from, from + length);
}

function amount(number: number): number {
  if (number < 0) throw new WireError('an amount of the heat is negative');
  return number;
}

function sumOf(parts: readonly { readonly fuel: number }[]): number {
  return parts.reduce((sum, { fuel }) => sum + fuel, 0);
}

/** Columns of marks, which grow. */
class Marks {
  #marks = new Int32Array(1024);
  #us = new Float64Array(1024);
  #fuel = new Float64Array(1024);
  #length = 0;

  /** Adds a mark, `us` later than the one before. */
  push(mark: number, us: number, fuel: number): void {
    const at = this.#length++;
    if (at === this.#marks.length) this.#grow();
    this.#marks[at] = mark;
    this.#us[at] = us + (this.#us[at - 1] ?? 0);
    this.#fuel[at] = fuel + (this.#fuel[at - 1] ?? 0);
  }

  columns(): Omit<Trace, 'frames'> {
    const end = this.#length;
    return { marks: this.#marks.slice(0, end), us: this.#us.slice(0, end), fuel: this.#fuel.slice(0, end) };
  }

  #grow(): void {
    const [marks, us, fuel] = [this.#marks, this.#us, this.#fuel];
    this.#marks = new Int32Array(2 * marks.length);
    this.#us = new Float64Array(2 * us.length);
    this.#fuel = new Float64Array(2 * fuel.length);
    this.#marks.set(marks);
    this.#us.set(us);
    this.#fuel.set(fuel);
  }
}
