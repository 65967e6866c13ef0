import {
  type Host,
  type LoopController,
  openSession,
  type SessionStore,
  type SessionSummary,
  sealFaults,
} from '../../loop/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { Files } from './disk.ts';
import { type Fault, Faults } from './faults.ts';
import { controllerIn, hostIn, type Shared } from './host.ts';
import { INVARIANTS } from './invariants.ts';
import { KEYS } from './keys.ts';
import { Process, type Surroundings } from './process.ts';
import { mixed, Random } from './random.ts';
import type { EmptyStore } from './remotestore.ts';
import type { Scenario, World, WorldView } from './scenario.ts';
import { acting, Timeline } from './timeline.ts';
import { type Violation, Watch } from './watch.ts';

/** The plan of one schedule. Equal plans of one scenario give equal schedules, event by event. */
export interface Schedule {
  /** Decides the order of events and the faults. */
  readonly seed: number;
  /** Hosts of the fleet, from 1; a seed has its own number when absent. */
  readonly hosts?: number;
  /** The selected sessions of the scenario, by their numbers from 1; all when absent. */
  readonly sessions?: readonly number[];
  /** All faults, as `PLACE=FAULT`; the seed decides when absent. */
  readonly faults?: readonly string[];
}

export interface ScheduleOutcome {
  readonly violation: Violation | null;
  readonly events: number;
  readonly turns: number;
  /** The faults, as `PLACE=FAULT`. */
  readonly faults: readonly string[];
  readonly hosts: number;
  readonly sessions: readonly number[];
  /** A digest of all events, in order; equal for equal schedules. */
  readonly hash: number;
  /** The trace, one line for each event; empty unless requested. */
  readonly trace: readonly string[];
}

export interface WorldOptions {
  /** The possible faults. */
  readonly kinds: readonly Fault[];
  /** Most hosts of a fleet. */
  readonly mostHosts: number;
  readonly trace: boolean;
  /** The store, which no other world uses at the time. */
  readonly store: EmptyStore;
}

const LEASE_MS = 3000;
/** Milliseconds of the world until which faults happen. */
const TROUBLE_MS = 40_000;
/** Milliseconds after that until every session must have ended or wait. */
const CALM_MS = 600_000;
/** Milliseconds for hosts to end their turns at the end. */
const DRAIN_MS = 60_000;
/** Faults of whole processes. */
const INCIDENTS = 12;
const INCIDENT: readonly Fault[] = ['stops', 'cut-off', 'jumps', 'full', 'dies', 'drains', 'cancels'];
/** Events that may wait at the same time for each process and session of a world. */
const MOST_WAITING = 40;

/** A member of the fleet, whose process is started again when it has ended. */
interface Slot {
  readonly name: string;
  starts: number;
  process: Process | null;
  host: Host | null;
}

/** Runs one schedule: a fleet of hosts over one store, with people who answer, and with faults. */
export class SimulatedWorld implements Surroundings {
  readonly timeline: Timeline;
  readonly faults: Faults;
  readonly leaseMs = LEASE_MS;
  fullUntil = 0;
  readonly #schedule: Schedule;
  readonly #options: WorldOptions;
  readonly #watch: Watch;
  readonly #server: Process;
  readonly #store: SessionStore;
  readonly #shared: Shared;
  readonly #world: World;
  readonly #slots: Slot[];
  readonly #people: Slot & { controller: LoopController | null };
  readonly #trace: string[] = [];
  #hash: number;
  #seen = { decided: 0, progress: 0 };
  #isOver = false;
  #isEnding = false;

  constructor(schedule: Schedule, make: (world: World) => Scenario, options: WorldOptions) {
    const { seed } = schedule;
    this.#schedule = schedule;
    this.#options = options;
    this.#hash = seed;
    this.timeline = new Timeline(new Random(seed, 'order'));
    this.faults = new Faults(seed, options.kinds, schedule.faults ?? null);
    this.#server = new Process('store', this);
    this.#world = { random: new Random(seed, 'scenario'), now: () => this.timeline.now };
    this.#store = options.store.on(this.#server);
    const scenario = acting.run(this.#server, () => make(this.#world));
    const durable = scenario.sessions.flatMap((session, index) => (session.durable === 'call' ? [sidOf(index + 1)] : []));
    this.#watch = new Watch(this.timeline, new Set(durable));
    const { leaseMs } = this;
    this.#shared = {
      seed,
      scenario,
      store: this.#store,
      server: this.#server,
      files: new Files(this.#watch),
      keyring: KEYS,
      watch: this.#watch,
      leaseMs,
    };
    const hosts = schedule.hosts ?? 1 + (mixed(seed, 'hosts') % options.mostHosts);
    this.#slots = Array.from({ length: hosts }, (_, index) => ({
      name: String.fromCharCode(97 + index),
      starts: 0,
      process: null,
      host: null,
    }));
    this.#people = { name: 'people', starts: 0, process: null, host: null, controller: null };
  }

  /** The numbers of the sessions of this schedule. */
  get #sessions(): readonly number[] {
    return this.#schedule.sessions ?? this.#shared.scenario.sessions.map((_, index) => index + 1);
  }

  async run(): Promise<ScheduleOutcome> {
    await acting.run(this.#server, () => this.#open());
    for (const slot of this.#slots) this.#startHost(slot);
    this.#startPeople();
    for (let incident = 1; incident <= INCIDENTS; incident += 1) this.#plantIncident(incident);
    this.timeline.after(TROUBLE_MS, this.#server, () => this.#calm());
    await this.timeline.run(() => this.#step());
    const { violation } = this.#watch;
    if (violation === null && !this.#isOver) this.#watch.fail(INVARIANTS.ends, await this.#whatIsLeft());
    if (this.#watch.violation === null) await this.#finish();
    return {
      violation: this.#watch.violation,
      events: this.timeline.steps,
      turns: this.#watch.decided,
      faults: [...this.faults.happened],
      hosts: this.#slots.length,
      sessions: this.#sessions,
      hash: this.#hash,
      trace: this.#trace,
    };
  }

  readonly note = (line: string): void => {
    const { now } = this.timeline;
    this.#hash = mixed(this.#hash ^ (now * 100), line);
    if (this.#options.trace) this.#trace.push(`${now.toFixed(2)} ${line}`);
  };

  died(process: Process): void {
    const slot = [...this.#slots, this.#people].find((each) => each.process === process);
    if (slot === undefined || this.#isEnding) return;
    const ms = 200 + this.faults.delay(`${process.name} starts again`, 10_000);
    this.timeline.after(ms, this.#server, () => {
      if (this.#isEnding) return;
      if (slot === this.#people) this.#startPeople();
      else this.#startHost(slot);
    });
  }

  async #open(): Promise<void> {
    for (const number of this.#sessions) {
      const session = this.#shared.scenario.sessions[number - 1];
      if (session === undefined) throw new ConfigError(`the scenario has no session ${number}`);
      const { userdata, ...options } = session;
      await openSession(this.#store, userdata, { sid: sidOf(number), at: this.#server.now(), ...options });
    }
  }

  #start(slot: Slot): Process {
    slot.starts += 1;
    const process = new Process(slot.starts === 1 ? slot.name : `${slot.name}${slot.starts}`, this);
    slot.process = process;
    this.note(`${process.name} starts`);
    return process;
  }

  #startHost(slot: Slot): void {
    const process = this.#start(slot);
    acting.run(process, () => {
      slot.host = hostIn(process, this.#shared, (error) => this.note(`${process.name} reports ${messageOf(error)}`));
      slot.host.start();
    });
  }

  #startPeople(): void {
    const process = this.#start(this.#people);
    acting.run(process, () => {
      const { controller } = controllerIn(process, this.#shared);
      this.#people.controller = controller;
      void this.#look(process, controller);
    });
  }

  /** Repeatedly looks for calls that wait, and answers them. */
  async #look(process: Process, controller: LoopController): Promise<void> {
    for (;;) {
      await process.pause(100 + this.faults.delay(process.place('look'), 3000));
      if (!this.#watch.someWait) continue;
      for (const { sid, waits } of await this.#store.list())
        for (const call of waits === null ? [] : [waits, ...(waits.also ?? [])]) {
          const { answer = () => ({ result: true }) } = this.#shared.scenario;
          // A second person, unaware of the first answer, may give another one.
          const answers = !call.completed || this.faults.at(process.place('answer again'), ['twice'], 0.2) !== null;
          const given = answers ? answer({ sid, ...call }, this.#world) : null;
          if (given === null) continue;
          const said = controller.complete(sid, call.call, given).then(
            () => 'is answered',
            (error) => `is not answered: ${messageOf(error)}`,
          );
          this.note(`call ${call.call} of ${sid} ${await said}`);
        }
    }
  }

  #plantIncident(number: number): void {
    const { faults } = this;
    const name = `event.${number}`;
    const at = faults.share(`${name} at`) * TROUBLE_MS * 0.9;
    this.timeline.after(at, this.#server, () => {
      const fault = faults.at(name, INCIDENT, 0.35);
      const slots = [...this.#slots, this.#people];
      const slot = slots[Math.floor(faults.share(`${name} where`) * slots.length)];
      const process = slot?.process ?? null;
      if (fault === null || slot === undefined || process?.alive !== true) return;
      this.note(`${process.name} ${fault}`);
      this.#happens(fault, slot, process, faults.delay(`${name} how long`, 4 * LEASE_MS));
    });
  }

  #happens(fault: Fault, slot: Slot, process: Process, ms: number): void {
    const until = this.timeline.now + ms;
    if (fault === 'stops') process.stoppedUntil = until;
    else if (fault === 'cut-off') process.cutOffUntil = until;
    else if (fault === 'jumps') process.jump((ms - 2 * LEASE_MS) * 200);
    else if (fault === 'full') this.fullUntil = until;
    else if (fault === 'dies') process.die();
    else if (fault === 'drains') this.#drain(slot, process, ms);
    else if (fault === 'cancels') {
      const { controller } = this.#people;
      const sid = sidOf(this.#sessions[mixed(this.#schedule.seed, `${ms}`) % this.#sessions.length] ?? 0);
      const owner = this.#people.process;
      if (controller !== null && owner?.alive === true)
        acting.run(
          owner,
          () => void controller.cancel(sid).catch((error) => this.note(`${sid} is not cancelled: ${messageOf(error)}`)),
        );
    }
  }

  #drain({ host }: Slot, process: Process, ms: number): void {
    if (host === null) return;
    acting.run(process, () => void host.drain(ms).then(() => process.die()));
  }

  /** Ends the faults. From now on every session must come to its end. */
  #calm(): void {
    this.note('calm');
    this.faults.end();
    this.fullUntil = 0;
    for (const { process } of [...this.#slots, this.#people]) {
      if (process === null) continue;
      process.recover();
    }
  }

  /** Called after every event. Returns whether the schedule is over. */
  async #step(): Promise<boolean> {
    const { timeline } = this;
    const processes = this.#slots.length + 1 + this.#sessions.length;
    if (timeline.waiting > MOST_WAITING * processes)
      this.#watch.fail(INVARIANTS.memory, `${timeline.waiting} things wait at once`);
    if (this.#watch.violation !== null || timeline.now > TROUBLE_MS + CALM_MS) return true;
    const { decided, progress } = this.#watch;
    // Leases end by time, without an event.
    if (timeline.steps % 64 !== 0 && this.#seen.progress === progress) return false;
    // While a session has a lease, it is not settled.
    if (this.#seen.decided === decided && this.#sessions.some((number) => this.#watch.isHeld(sidOf(number)))) return false;
    const sessions = await this.#store.list();
    this.#isOver = sessions.every((session) => this.#isSettled(session));
    if (this.#seen.decided !== decided || this.#isOver) this.#judge(sessions);
    this.#seen = { decided, progress };
    return this.#isOver || this.#watch.violation !== null;
  }

  /** Whether a session has ended, or waits for an answer that will not come. */
  #isSettled({ sid, status, owed, lease, waits }: SessionSummary): boolean {
    if (owed > 0 || lease !== null) return false;
    if (status !== 'open') return true;
    const { answer } = this.#shared.scenario;
    if (waits === null || waits.completed || waits.expiresAt <= this.#server.now()) return false;
    return answer !== undefined && answer({ sid, ...waits }, this.#world) === null;
  }

  /** Checks the invariants of the scenario. */
  #judge(sessions: readonly SessionSummary[]): void {
    const view: WorldView = { sessions, turns: (sid) => this.#watch.turnsOf(sid), isOver: this.#isOver };
    for (const [name, holds] of Object.entries(this.#shared.scenario.invariants ?? {})) {
      const problem = holds(view);
      if (problem !== null) this.#watch.fail(name, problem);
    }
  }

  async #whatIsLeft(): Promise<string> {
    const left = (await this.#store.list()).filter((session) => !this.#isSettled(session));
    const lines = left.map(({ sid, status, started, lease, owed, waits: call }) => {
      const waits = [
        started === null ? '' : `turn ${started} was started`,
        call === null ? '' : `it waits for call ${call.call} of ${call.tool}`,
        lease === null ? '' : `${lease.owner} has a lease`,
        owed === 0 ? '' : `${owed} entries are not in the log`,
      ];
      return `${sid} is ${status}${waits
        .filter((each) => each !== '')
        .map((each) => `, ${each}`)
        .join('')}`;
    });
    return lines.join('; ');
  }

  /** Ends a process. None of its events may be left. */
  #leftBehind(process: Process): void {
    const left = this.timeline.timersOf(process);
    if (left > 0) this.#watch.fail(INVARIANTS.memory, `host ${process.name} has ended, and ${left} of its timers run on`);
    process.die();
  }

  /** Ends the fleet and checks the remaining state. */
  async #finish(): Promise<void> {
    this.#calm();
    this.#isEnding = true;
    const processes = this.#slots.flatMap(({ process }) => (process?.alive === true ? [process] : []));
    for (const { host, process } of this.#slots)
      if (host !== null && process?.alive === true)
        acting.run(process, () => void host.drain(DRAIN_MS).then(() => this.#leftBehind(process)));
    this.#people.process?.die();
    const late = this.timeline.now + 2 * DRAIN_MS;
    await this.timeline.run(() => this.timeline.now > late || processes.every(({ alive }) => !alive));
    for (const { name, alive } of processes)
      if (alive) this.#watch.fail(INVARIANTS.ends, `host ${name} does not come to its end`);
    for (const { sid } of await this.#store.list()) {
      const turns = await this.#store.turns(sid);
      this.#watch.compare(sid, turns);
      for (const [index, record] of turns.entries())
        for (const fault of sealFaults(record, turns[index - 1]?.seal?.hash ?? null))
          this.#watch.fail(INVARIANTS.chain, `turn ${record.turn} of ${sid}: ${JSON.stringify(fault)}`);
    }
  }
}

function sidOf(number: number): string {
  return `s${number}`;
}
