import { type HeatFrame, STEP_SIZES, type Step, type StepFork, type Probe as Wanted } from '../wire/heat.ts';
import type { ProbeFrame } from '../wire/protocol.ts';
import type { FramePlace } from './errors.ts';
import type { Frame } from './frame.ts';
import { cutName, type Room, showFork } from './preview.ts';

/** A frame of the flame graph, and what counts for its line. */
export class Spot {
  readonly frame: HeatFrame;
  /** Whether its visits are counted for a step. */
  readonly wanted: boolean;
  readonly column: number;
  /** Its number for the host; -1 before it is first entered. */
  number = -1;
  visits = 0;
  fuel = 0;
  us = 0;

  constructor(frame: HeatFrame, column: number, wanted: boolean) {
    this.frame = frame;
    this.column = column;
    this.wanted = wanted;
  }
}

/** A path of calls and statements. */
export class PathNode {
  readonly spot: Spot;
  readonly parent: PathNode | null;
  readonly number: number;
  count = 0;
  fuel = 0;
  us = 0;
  /** Whether the trace has its begin and not its end. */
  open = false;
  /** The node below that was entered last, which is often the next one too. */
  latest: PathNode | null = null;
  below: Map<Spot, PathNode> | null = null;

  constructor(spot: Spot, parent: PathNode | null, number: number) {
    this.spot = spot;
    this.parent = parent;
    this.number = number;
  }
}

/** What a probe reads of a machine. */
export interface Measured {
  /** Fuel spent so far. */
  readonly fuel: number;
  readonly limits: { readonly traceEvents: number };
  readonly ports: { clock(measured: boolean): number; host(frame: string, follows?: boolean): string };
}

/** A fork that runs, and the line at which its caller stands. */
interface Running {
  readonly frame: Frame;
  readonly caller: Spot;
}

type Kind = HeatFrame['kind'];

/** Changes of place at each of which the clock is read. Reading it takes longer than a statement, so later only some do. */
const ALWAYS_READ = 50_000;
/** Fuel of one place from which on the clock is read after it. */
const HEAVY = 64;
/** Numbers that are sent at once. */
const PART = 6144;

const { stringify } = JSON;

/**
 * Measures a run: which line and which path of calls spent its fuel and time. The compiler makes code that tells the probe where the
 * program is; without a probe it makes none of it. The probe reads the meter and never pays.
 */
export class Probe {
  /** Where the program is: what is spent next counts for this node and this line. */
  node: PathNode;
  line: Spot;
  readonly #machine: Measured;
  readonly #wanted: Wanted;
  readonly #most: number;
  readonly #places = new Map<object, Map<string, Spot>>();
  readonly #calls = new Map<string, Spot>();
  readonly #spots: Spot[] = [];
  readonly #nodes: PathNode[] = [];
  readonly #forks: Running[] = [];
  /** Fuel and time that are counted already. */
  #fuel = 0;
  #us = 0;
  #changes = 0;
  #unread = 0;
  #seed = 1;
  #begun = 0;
  #unmarked = 0;
  #folded = 0;
  #marks: number[] = [];
  #markedUs = 0;
  #markedFuel = 0;
  #sent = 0;
  #steps = 0;
  #visits = 0;
  #step: Step | null = null;

  constructor(machine: Measured, wanted: Wanted) {
    this.#machine = machine;
    this.#wanted = wanted;
    this.#most = machine.limits.traceEvents;
    this.line = new Spot({ kind: 'host', name: 'run', source: null, line: null }, 1, false);
    this.#number(this.line);
    this.node = new PathNode(this.line, null, 0);
    this.node.count = 1;
    this.#nodes.push(this.node);
  }

  /** The place where something stands in a source. */
  spot(kind: Kind, { name, file, at }: FramePlace): Spot {
    const places = this.#places.get(file) ?? new Map<string, Spot>();
    this.#places.set(file, places);
    const key = `${kind}${at}`;
    const known = places.get(key);
    if (known !== undefined) return known;
    const { line, column } = file.position(at);
    const { at: wanted } = this.#wanted;
    const isHere = wanted !== undefined && 'line' in wanted && wanted.line === line && wanted.source === file.name;
    const made = new Spot(
      { kind, name: cutName(name), source: cutName(file.name), line },
      column,
      isHere && kind === 'statement',
    );
    places.set(key, made);
    return made;
  }

  /** Runs something that counts for a place. */
  within<T>(spot: Spot, run: () => T): T {
    const { node, line } = this;
    this.reach(spot);
    try {
      return run();
    } finally {
      this.back(node, line);
    }
  }

  /** Makes a call of a tool, prompt or model. It has a node of its own; the line stays. */
  call<T>(kind: Kind, name: string, run: () => T): T {
    const key = `${kind} ${name}`;
    const known = this.#calls.get(key);
    const spot = known ?? new Spot({ kind, name: cutName(name), source: null, line: null }, 1, false);
    if (known === undefined) this.#calls.set(key, spot);
    const { node, line } = this;
    this.#unread = 0;
    this.#enter(spot, 0);
    try {
      return run();
    } finally {
      this.#unread = 0;
      this.back(node, line);
    }
  }

  /** Enters a statement. `prepaid`: its fuel, where the call of its procedure has paid for it. */
  statement(spot: Spot, prepaid: number): void {
    this.reach(spot, prepaid);
    const step = ++this.#steps;
    const { at } = this.#wanted;
    if (at === undefined) return;
    if (spot.wanted) this.#visits++;
    const isHere = 'step' in at ? step === at.step : spot.wanted && this.#visits === at.visit;
    if (isHere) this.#step = this.#stepAt(spot);
  }

  /** Enters a fork with its frame. `prepaid`: fuel of its first statement, which the call has paid. */
  fork(spot: Spot, frame: Frame, prepaid: number): void {
    this.#forks.push({ frame, caller: this.line });
    this.reach(spot, prepaid);
  }

  /** Leaves a fork, and any within it that an error has ended. */
  leave(frame: Frame, node: PathNode, line: Spot): void {
    while (this.#forks.pop()?.frame !== frame) if (this.#forks.length === 0) break;
    this.back(node, line);
  }

  /** Returns to an earlier place, from however deep within. */
  back(node: PathNode, line: Spot): void {
    this.#count(0);
    for (let left = this.node; left !== node && left.parent !== null; left = left.parent) {
      if (left.open) this.#mark(-1);
      left.open = false;
    }
    this.node = node;
    this.line = line;
  }

  /** Sends everything that has not been sent. */
  finish(): void {
    this.#unread = 0;
    this.#count(0);
    const nodes = this.#nodes.flatMap(({ spot, parent, count, fuel, us }) => [spot.number, parent?.number ?? 0, count, fuel, us]);
    const spent = this.#spots.flatMap(({ number, visits, fuel, us }) => [number, visits, fuel, us]);
    this.#send({});
    for (let from = 0; from < nodes.length; from += PART - (PART % 5))
      this.#send({ nodes: nodes.slice(from, from + PART - (PART % 5)) });
    for (let from = 0; from < spent.length; from += PART) this.#send({ spent: spent.slice(from, from + PART) });
    this.#send({ end: { steps: this.#steps, unmarked: this.#unmarked, folded: this.#folded, step: this.#step } });
  }

  /** Enters a place: what is spent next counts for it. */
  reach(spot: Spot, prepaid = 0): void {
    if (this.#enter(spot, prepaid)) this.line = spot;
  }

  /** Goes one node down the path. False when there is no room for the place, which the place around it then stands for. */
  #enter(spot: Spot, prepaid: number): boolean {
    this.#count(prepaid);
    const isKnown = spot.number >= 0 || this.#number(spot);
    if (isKnown) spot.visits++;
    const { node } = this;
    const { latest } = node;
    const below = latest?.spot === spot ? latest : (node.below?.get(spot) ?? (isKnown ? this.#below(node, spot) : null));
    if (below === null) {
      this.#folded++;
      return isKnown;
    }
    node.latest = below;
    below.count++;
    this.node = below;
    if (this.#wanted.trace === true) this.#open(below);
    return isKnown;
  }

  /** A new node; null when there is no room for it. */
  #below(node: PathNode, spot: Spot): PathNode | null {
    if (this.#nodes.length >= this.#most) return null;
    const made = new PathNode(spot, node, this.#nodes.length);
    this.#nodes.push(made);
    node.below ??= new Map();
    node.below.set(spot, made);
    return made;
  }

  /** Gives a place its number. False when there is no room for another. */
  #number(spot: Spot): boolean {
    if (this.#spots.length >= this.#most) return false;
    spot.number = this.#spots.length;
    this.#spots.push(spot);
    return true;
  }

  /** Counts what was spent since the last change of place. `prepaid` of it belongs to the next place. */
  #count(prepaid: number): void {
    const fuel = this.#machine.fuel - prepaid;
    const spent = fuel - this.#fuel;
    this.#fuel = fuel;
    this.node.fuel += spent;
    this.line.fuel += spent;
    if (--this.#unread > 0 && spent < HEAVY) return;
    this.#read();
  }

  /** Reads the clock: the time since the last reading counts for this place. */
  #read(): void {
    const us = this.#machine.ports.clock(true);
    const passed = Math.max(0, us - this.#us);
    this.#us += passed;
    this.node.us += passed;
    this.line.us += passed;
    if (++this.#changes < ALWAYS_READ) return;
    // A fixed distance could meet the same statement of a loop again and again.
    this.#seed = (Math.imul(this.#seed, 1_103_515_245) + 12_345) >>> 0;
    this.#unread = 8 + (this.#seed >>> 28);
  }

  /** Writes the begin of a node into the trace. Statements leave room for procedures, and these for calls of tools. */
  #open(node: PathNode): void {
    const { kind, source } = node.spot.frame;
    const share = kind === 'statement' ? 0.8 : source === null ? 1 : 0.9;
    if (this.#begun >= this.#most * share) {
      this.#unmarked++;
      return;
    }
    this.#begun++;
    node.open = true;
    this.#mark(node.spot.number);
  }

  #mark(number: number): void {
    if (this.#unread > 0) {
      this.#unread = 0;
      this.#read();
    }
    this.#marks.push(number, this.#us - this.#markedUs, this.#fuel - this.#markedFuel);
    this.#markedUs = this.#us;
    this.#markedFuel = this.#fuel;
    if (this.#marks.length >= PART) this.#send({});
  }

  /** Sends a part, and before it the marks and the frames that it needs. */
  #send(part: Partial<ProbeFrame>): void {
    const frames = this.#spots.slice(this.#sent).map(({ frame }) => frame);
    const marks = this.#marks;
    this.#sent = this.#spots.length;
    this.#marks = [];
    for (let from = 0; from < frames.length; from += PART) this.#write({ frames: frames.slice(from, from + PART) });
    if (marks.length > 0) this.#write({ marks });
    if (Object.keys(part).length > 0) this.#write(part);
  }

  #write(part: Partial<ProbeFrame>): void {
    const frame: ProbeFrame = { t: 'probe', frames: [], marks: [], nodes: [], spent: [], ...part };
    this.#machine.ports.host(stringify(frame), true);
  }

  #stepAt(spot: Spot): Step {
    const room: Room = { units: STEP_SIZES.all };
    const stack: StepFork[] = [];
    let { line } = spot.frame;
    for (let index = this.#forks.length - 1; index >= 0 && stack.length < STEP_SIZES.forks; index--) {
      const running = this.#forks[index];
      if (running === undefined) break;
      stack.push(showFork(running.frame, line ?? 1, room));
      line = running.caller.frame.line;
    }
    const { source } = spot.frame;
    return {
      step: this.#steps,
      source: source ?? '',
      line: spot.frame.line ?? 1,
      column: spot.column,
      visit: this.#visitsOf(spot),
      fuel: this.#fuel,
      stack,
      more: this.#forks.length - stack.length,
    };
  }

  /** Visits of a line, which may have several statements. */
  #visitsOf({ frame: { source, line } }: Spot): number {
    return this.#spots.reduce(
      (sum, { frame, visits }) =>
        frame.kind === 'statement' && frame.source === source && frame.line === line ? sum + visits : sum,
      0,
    );
  }
}
