import { generateKeys, keyringFrom } from '../src/aeiou/index.ts';
import { createRuntime, defineTool } from '../src/entries/index.ts';
import {
  type Agent,
  type DecisionLog,
  Host,
  LoopController,
  openSession,
  runtimeExecutor,
  SessionCoordinator,
  type SessionStore,
  systemClock,
  type TurnExecutor,
} from '../src/loop/index.ts';
import { bareAgent, bareExecutor } from './loop.ts';
import { usedCpuMs } from './residence.ts';
import { short, table } from './table.ts';

/** Turns of every session. */
export const TURNS = 5;

export const USERDATA = { subject: 'bench', fields: {} };

/** Says in which session and turn it is called. */
export const whereTool = defineTool({ name: 'tool.probe.Where', run: (_, { turn }) => `${turn.sessionId}/${turn.turnIndex}` });

/** An agent that asks in each turn for its session and turn: the first line of OUTPUT is `SID/TURN`. */
export const whereAgent: Agent = {
  reply: async ({ turn }) => `<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{}
<<<NSENV:V3:ACTIONS>>>
command
  emit tool.probe.Where()
  emit tool.aeiou.magic("LOOP", {"action": "${turn < TURNS ? 'continue' : 'done'}"})
endcommand
<<<NSENV:V3:END>>>`,
};

/** What runs the programs of a row: nothing, so that the host's own time is left, or one worker for each host. */
export type FleetExecutor = 'none' | 'sandbox';
export const FLEET_EXECUTORS: readonly FleetExecutor[] = ['none', 'sandbox'];

/** What turns cost when hosts drive the sessions of one store. */
export interface FleetRow {
  readonly engine: string;
  readonly executor: FleetExecutor;
  readonly hosts: number;
  /** Sessions that each host drives at a time. */
  readonly inFlight: number;
  readonly turns: number;
  readonly seconds: number;
  readonly turnsPerSecond: number;
  /** Milliseconds that 99 of 100 turns took at most. */
  readonly p99Ms: number;
  /** CPU time of all hosts and their workers for each turn, in milliseconds; null where it cannot be read. */
  readonly hostCpuMs: number | null;
  /** That of the servers; null without one on this machine. */
  readonly serverCpuMs: number | null;
  /** Sessions that are not done after their five turns. */
  readonly unfinished: number;
}

/** Sessions of each row. */
export const FLEET_SESSIONS = { whole: 200, quick: 10 } as const;

/** Sessions that a host drives at a time, and before it is measured, where the row says nothing else. */
export const CONCURRENCY = 8;

/** Few and many sessions at a time: many must not take turns away. */
export const IN_FLIGHT = [4, 64] as const;

/** Rounds in which rows that are compared take turns: one row alone says as much about the minute as about the product. */
const ROUNDS = 5;

/** A row for few and one for many sessions in flight, each the median of its rounds by rate. */
export async function crowds(quick: boolean, measure: (inFlight: number) => Promise<FleetRow>): Promise<FleetRow[]> {
  const rows: FleetRow[] = [];
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) for (const inFlight of IN_FLIGHT) rows.push(await measure(inFlight));
  return IN_FLIGHT.flatMap((inFlight) => {
    const found = rows.filter((row) => row.inFlight === inFlight).sort((a, b) => a.turnsPerSecond - b.turnsPerSecond);
    return found.slice(found.length >> 1, (found.length >> 1) + 1);
  });
}

/** What a host tells of the sessions of a profile that it drives. */
export interface FleetListener {
  /** A session has ended here. */
  readonly onEnded: () => void;
  readonly onError: (error: unknown) => void;
}

/** Drives the sessions of a profile until the result is called. */
export type FleetHost = (profile: string, listener: FleetListener) => () => Promise<void>;

export interface FleetHostInit {
  readonly store: SessionStore;
  readonly log: DecisionLog | null;
  readonly executor: FleetExecutor;
  readonly owner: string;
  readonly inFlight?: number;
}

/** What takes the turns of a host. */
export interface FleetDriver {
  readonly coordinator: SessionCoordinator;
  readonly controller: LoopController;
  readonly agent: Agent;
}

/** Makes what takes the turns of a host. It closes with `resources`. */
export async function openFleetDriver(
  { store, log, executor, owner, inFlight = CONCURRENCY }: FleetHostInit,
  resources: AsyncDisposableStack,
): Promise<FleetDriver> {
  const coordinator = new SessionCoordinator({ store, log, clock: systemClock, replayTtl: 900, owner, leaseMs: 60_000 });
  const keyring = keyringFrom(generateKeys('bench'), { clock: systemClock });
  const controller = new LoopController({ executor: await openExecutor(executor, inFlight, resources), keyring, coordinator });
  return { coordinator, controller, agent: executor === 'none' ? bareAgent : whereAgent };
}

/** Opens a host that has driven some sessions already. It closes with `resources`. */
export async function openFleetHost(init: FleetHostInit, resources: AsyncDisposableStack): Promise<FleetHost> {
  const { inFlight = CONCURRENCY } = init;
  const { coordinator, controller, agent } = await openFleetDriver(init, resources);
  const host: FleetHost = (profile, { onEnded, onError }) => {
    const driver = new Host({
      coordinator,
      profiles: { [profile]: { controller, options: () => ({ agent }) } },
      concurrency: inFlight,
      onLeft: ({ decision }) => {
        if (decision !== 'CONTINUE') onEnded();
      },
      onError,
    });
    driver.start();
    return () => driver.drain(60_000);
  };
  const warm = `warm-${init.owner}`;
  await openFleetSessions(init.store, fleetSids(warm, inFlight), warm);
  await driveAll(host, warm, inFlight);
  return host;
}

/** Drives a number of sessions to their ends. */
async function driveAll(host: FleetHost, profile: string, sessions: number): Promise<void> {
  const all = Promise.withResolvers<void>();
  let ended = 0;
  const onEnded = (): void => {
    ended += 1;
    if (ended === sessions) all.resolve();
  };
  const stop = host(profile, { onEnded, onError: all.reject });
  try {
    await all.promise;
  } finally {
    await stop();
  }
}

async function openExecutor(kind: FleetExecutor, inFlight: number, resources: AsyncDisposableStack): Promise<TurnExecutor> {
  if (kind === 'none') return bareExecutor(TURNS);
  const runtime = await createRuntime({
    tools: [whereTool],
    policy: { allow: [whereTool.name] },
    concurrency: 1,
    maxWorkers: 1,
    queueLength: 2 * inFlight,
    launcher: 'none',
  });
  return runtimeExecutor(resources.use(runtime));
}

/** The ids of sessions with the same beginning. */
export function fleetSids(prefix: string, sessions: number): readonly string[] {
  return Array.from({ length: sessions }, (_, n) => `${prefix}-${n}`);
}

export async function openFleetSessions(store: SessionStore, sids: readonly string[], profile = ''): Promise<void> {
  for (const sid of sids) await openSession(store, USERDATA, { sid, at: Date.now(), ...(profile === '' ? {} : { profile }) });
}

/** What a row is of. */
export type FleetPlace = Pick<FleetRow, 'engine' | 'executor' | 'hosts' | 'inFlight'>;

/** What is measured while hosts drive `sessions` sessions. */
export async function measureFleet(
  row: FleetPlace,
  store: SessionStore,
  sessions: number,
  pids: { readonly hosts: readonly number[]; readonly servers: readonly number[] },
  drive: () => Promise<void>,
): Promise<FleetRow> {
  const turns = sessions * TURNS;
  const spent = (): readonly (number | null)[] => [
    usedCpuMs(pids.hosts, true),
    pids.servers.length === 0 ? null : usedCpuMs(pids.servers, true),
  ];
  const before = spent();
  const begun = performance.now();
  await drive();
  const seconds = (performance.now() - begun) / 1000;
  const [hostCpuMs = null, serverCpuMs = null] = spent().map((after, index) => {
    const then = before[index] ?? null;
    return after === null || then === null ? null : (after - then) / turns;
  });
  const done = (await store.list()).filter((session) => session.status === 'done' && session.turns === TURNS);
  const times: number[] = [];
  for (const { sid, profile } of done)
    if (!profile.startsWith('warm-')) times.push(...(await store.turns(sid)).map(({ latencyMs }) => latencyMs));
  const p99Ms = times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
  // Each host has driven some sessions before.
  const unfinished = sessions + row.inFlight * row.hosts - done.length;
  return { ...row, turns, seconds, turnsPerSecond: turns / seconds, p99Ms, hostCpuMs, serverCpuMs, unfinished };
}

/** Measures one host in this process, which must have no other children. */
export async function measureHere(
  engine: string,
  store: SessionStore,
  executor: FleetExecutor,
  quick: boolean,
  inFlight: number = CONCURRENCY,
): Promise<FleetRow> {
  const sessions = FLEET_SESSIONS[quick ? 'quick' : 'whole'];
  await using resources = new AsyncDisposableStack();
  const host = await openFleetHost({ store, log: null, executor, owner: 'host-1', inFlight }, resources);
  await openFleetSessions(store, fleetSids('fleet', sessions));
  const row = { engine, executor, hosts: 1, inFlight };
  return await measureFleet(row, store, sessions, { hosts: [process.pid], servers: [] }, () => driveAll(host, '', sessions));
}

export function renderFleet(rows: readonly FleetRow[]): string {
  const cells = rows.map(({ engine, executor, hosts, inFlight, turns, turnsPerSecond, p99Ms, hostCpuMs, serverCpuMs }) => [
    engine,
    executor,
    String(hosts),
    String(inFlight),
    String(turns),
    short(turnsPerSecond),
    short(p99Ms),
    short(hostCpuMs),
    short(serverCpuMs),
  ]);
  const head = ['engine', 'executor', 'hosts', 'in flight', 'turns', 'turns/s', 'p99 ms', 'CPU ms a turn, hosts', 'server'];
  return `${table(head, cells)}\n\nSessions of five turns, so many in flight on each host. sandbox: one worker a host, a tool call and a signed token in every turn; none: the token alone.\n`;
}

/** Most times the turns in flight over their rate that the slowest of a hundred turns may take. */
const SLOWEST = 3;
/** Least of the rate with few sessions in flight that many have: beside noise, all of it. */
const OF_FEW = 0.95;
/** Least of the rate of SQLite that Postgres has. */
const OF_SQLITE = 0.7;

/** Why the numbers are invalid; a quick run is too short to judge rates. */
export function fleetFailures(rows: readonly FleetRow[], quick: boolean): string[] {
  const unfinished = rows.flatMap(({ engine, executor, hosts, unfinished }) =>
    unfinished === 0
      ? []
      : [`${unfinished} sessions of ${engine}, ${executor}, ${hosts} hosts are not done after ${TURNS} turns`],
  );
  return quick ? unfinished : [...unfinished, ...rateFailures(rows)];
}

function rateFailures(rows: readonly FleetRow[]): string[] {
  const [few, many] = IN_FLIGHT;
  const crowded = rows.filter(({ inFlight }) => inFlight === few || inFlight === many);
  const at = (engine: string, inFlight: number) => crowded.find((row) => row.engine === engine && row.inFlight === inFlight);
  const engines = [...new Set(crowded.map(({ engine }) => engine))];
  return engines.flatMap((engine) => {
    const [a, b, lite] = [at(engine, few), at(engine, many), at('SQLite', few)];
    if (a === undefined || b === undefined || lite === undefined) return [];
    const late = [a, b].filter(({ p99Ms, inFlight, turnsPerSecond }) => p99Ms > (SLOWEST * inFlight * 1000) / turnsPerSecond);
    return [
      ...(b.turnsPerSecond < OF_FEW * a.turnsPerSecond
        ? [`${engine} has fewer turns a second with ${many} in flight than with ${few}`]
        : []),
      ...late.map((row) => `of ${engine} with ${row.inFlight} in flight, one of 100 turns took ${short(row.p99Ms)} ms`),
      ...(engine.startsWith('Postgres') && a.turnsPerSecond < OF_SQLITE * lite.turnsPerSecond
        ? [`${engine} has less than ${OF_SQLITE} of the turns a second of SQLite`]
        : []),
    ];
  });
}
