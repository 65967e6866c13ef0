import { setTimeout as sleep } from 'node:timers/promises';
import { createRuntime, defineTool, type Runtime } from '../src/entries/index.ts';
import { pureTools } from '../stdlib-tools/index.ts';
import { type MemoryRow, ourMemory, peerMemory, renderMemory } from './memory.ts';
import { FLOOR, FLOOR_KEPT, OURS, OURS_KEPT, QUICKJS_PROCESS } from './names.ts';
import { perform, textsOf } from './ours.ts';
import { FLOOR_FLAGS, PARSED_FLOORS, runFloor } from './peerfloors.ts';
import { listPeers, PeerProcess } from './peerprocess.ts';
import { PEER_ROWS, type PeerRow, TRIVIAL } from './peerrows.ts';
import { QuickJsProcess } from './quickjs.ts';
import { RawProcess } from './rawprocess.ts';
import { type Summary, summarize } from './stats.ts';
import { short, spread, table } from './table.ts';
import { script, TURN } from './workloads.ts';

/** One engine on one row. */
export interface PeerResult {
  readonly row: string;
  readonly engine: string;
  readonly boundary: string;
  readonly ms: Summary | null;
  /** Our median divided by the engine's in this run, with a fresh isolate for each run: below 1, ours is faster. Null for ours. */
  readonly ours: number | null;
  /** The same with kept isolates. */
  readonly kept: number | null;
  /** Why there is no number. */
  readonly note: string | null;
}

/** A goal of a row, and what this run says about it. */
export interface Goal {
  readonly row: string;
  readonly peer: string;
  readonly most: number;
  /** The ratio with kept isolates, which is judged. */
  readonly measured: number | null;
  /** The ratio with a fresh isolate for each run. */
  readonly fresh: number | null;
  readonly met: boolean | null;
  /** The median of the smallest interpreter in a kept isolate, divided by the peer's: above `most`, the goal lies below this floor. */
  readonly floor: number | null;
}

/** What `bench peers` found. */
export interface PeerTable {
  readonly rows: readonly PeerResult[];
  readonly goals: readonly Goal[];
  readonly memory: readonly MemoryRow[];
}

const LIMITS = { ms: 20_000, memoryMb: 64 } as const;
const PAUSE_MS = 5;
/** Runs of a trivial turn in a row. */
const TURNS = 20;

/** The tool of the rows, which the peers have as a function `echo`. */
export const ECHO = defineTool({
  name: 'tool.bench.Echo',
  description: 'gives back the number it gets',
  effects: 'none',
  args: [{ name: 'value', type: 'int' }],
  run: ({ value }) => value,
});

interface Lane {
  readonly name: string;
  readonly boundary: string;
  run(row: PeerRow): Promise<{ readonly value: unknown; readonly ms: number; readonly error: string | null }>;
}

/**
 * Measures the rows on ours and on every peer. Each round runs every engine once and starts with another one, so that other load of the
 * machine meets all alike; the first round is not counted. A wrong result is no number. Throws `PeersMissing`.
 */
export async function benchPeers(
  rounds: number,
  onProgress: (done: number, whole: number) => void = () => {},
  wanted: readonly PeerRow[] = PEER_ROWS,
): Promise<PeerTable> {
  await using stack = new AsyncDisposableStack();
  const peers = Object.entries(await listPeers());
  const memory: MemoryRow[] = [...(await ourMemory())];
  const children: (readonly [string, PeerProcess])[] = [];
  const lanes: Lane[] = [
    ours(OURS, stack.use(await oursForPeers())),
    ours(OURS_KEPT, stack.use(await oursForPeers(undefined, 'tenant'))),
  ];
  for (const [name, { boundary }] of peers) {
    const child = stack.use(await PeerProcess.open(name));
    children.push([name, child]);
    lanes.push({ name, boundary, run: (row) => onPeer(child, row) });
  }
  lanes.push(quickJs(stack.use(await QuickJsProcess.open())), ...(await floors(stack)));
  for (const [name, child] of children) {
    await onPeer(child, TRIVIAL);
    memory.push(...peerMemory(name, child));
  }
  const rows: PeerResult[] = [];
  for (const [index, row] of wanted.entries()) {
    rows.push(...(await measured(row, lanes, rounds)));
    onProgress(index + 1, wanted.length);
  }
  return { rows, goals: wanted.flatMap((row) => goalOf(row, rows)), memory };
}

/** A runtime with the tools that the rows call, under limits that none of them reaches. */
export function oursForPeers(concurrency?: number, isolation: 'run' | 'tenant' = 'run'): Promise<Runtime> {
  return createRuntime({
    concurrency,
    isolation,
    tools: [ECHO, ...pureTools('str', 'list', 'regex')],
    policy: { allow: ['tool.bench.*', 'tool.str.*', 'tool.list.*', 'tool.regex.*'] },
    limits: { fuel: 1e12, cpuMs: 60_000, wallMs: LIMITS.ms },
  });
}

function ours(name: string, runtime: Runtime): Lane {
  return {
    name,
    boundary: 'process and isolate',
    run: ({ neuroscript }) => perform(runtime, textsOf(neuroscript)),
  };
}

/** QuickJS behind the same pipes, host to host. */
function quickJs(engine: QuickJsProcess): Lane {
  return {
    name: QUICKJS_PROCESS,
    boundary: 'process',
    async run(row) {
      const start = performance.now();
      const value = await engine.run({ ...LIMITS, script: script(row) });
      return { value, ms: performance.now() - start, error: null };
    },
  };
}

/** The smallest interpreter on the same work, see `peerfloors.ts`. */
async function floors(stack: AsyncDisposableStack): Promise<Lane[]> {
  const lane = async (name: string, isolate: 'fresh' | 'kept'): Promise<Lane> => {
    const raw = stack.use(await RawProcess.open(FLOOR_FLAGS));
    return {
      name,
      boundary: 'process and isolate',
      async run(row) {
        const { value, ms } = await runFloor(raw, row, isolate, LIMITS.ms);
        return { value, ms, error: null };
      },
    };
  };
  return [await lane(FLOOR, 'fresh'), await lane(FLOOR_KEPT, 'kept')];
}

async function onPeer(child: PeerProcess, row: PeerRow): ReturnType<Lane['run']> {
  const answer = await child.run(row, LIMITS);
  if (answer === null) throw new Error(`the process of a peer ended in '${row.name}'`);
  const { value, ms, error } = answer;
  return { value, ms, error: error === null ? null : `${error.name}: ${error.message}` };
}

async function measured(row: PeerRow, lanes: readonly Lane[], rounds: number): Promise<PeerResult[]> {
  const found = lanes.map((lane) => ({ lane, times: [] as number[], note: null as string | null }));
  const turns = row.javascript === TURN.javascript ? TURNS : 1;
  for (let round = -1; round < rounds; round++)
    for (let at = 0; at < found.length; at++) {
      const each = found[(at + round + 1) % found.length];
      if (each === undefined) continue;
      for (let turn = 0; turn < turns; turn++) {
        if (row.pace === 'rested') await sleep(PAUSE_MS);
        const { value, ms, error } = await each.lane.run(PARSED_FLOORS.has(row.name) ? withText(row, round) : row);
        if (error !== null) each.note = error;
        else if (value !== row.result) each.note = `wrong result: ${String(value)} instead of ${row.result}`;
        else if (round >= 0) each.times.push(ms);
      }
    }
  const [fresh, kept] = found.map(({ times }) => summarize(times)?.median);
  return found.map(({ lane: { name, boundary }, times, note }) => {
    const ms = note === null ? summarize(times) : null;
    const over = (mine: number | undefined) =>
      ms === null || mine === undefined || name === OURS || name === OURS_KEPT ? null : mine / ms.median;
    return { row: row.name, engine: name, boundary, ms, ours: over(fresh), kept: over(kept), note };
  });
}

/** A row whose text ours has not met in this run, as an agent writes a new one each turn: a worker keeps the trees of texts that it knows. */
function withText({ neuroscript, ...row }: PeerRow, round: number): PeerRow {
  return { ...row, neuroscript: { ...neuroscript, commands: `${neuroscript.commands}# ${round}\n` } };
}

function goalOf({ name, goal }: PeerRow, rows: readonly PeerResult[]): Goal[] {
  if (goal === null) return [];
  const of = (wanted: string): PeerResult | undefined => rows.find(({ row, engine }) => row === name && engine === wanted);
  const peer = of(goal.peer);
  const ratio = peer?.kept ?? null;
  const [least, theirs] = [of(FLOOR_KEPT)?.ms?.median, peer?.ms?.median];
  const floorRatio = least === undefined || theirs === undefined ? null : least / theirs;
  return [
    {
      row: name,
      ...goal,
      measured: ratio,
      fresh: peer?.ours ?? null,
      met: ratio === null ? null : ratio <= goal.most,
      floor: floorRatio,
    },
  ];
}

/** Why the numbers do not count. A goal that is missed is no failure: it is what the table shows. */
export function peerFailures({ rows }: PeerTable): string[] {
  return rows.flatMap(({ row, engine, note }) => (note === null ? [] : [`${engine}, ${row}: ${note}`]));
}

export function renderPeers({ rows, goals, memory }: PeerTable): string {
  const cells = rows.map(({ row, engine, ms, ours: ratio, kept, note }) => [
    row,
    engine,
    short(ms?.median ?? null),
    spread(ms),
    ms === null ? '-' : String(ms.samples),
    ratio === null ? (note ?? '') : `${short(ratio)}x`,
    kept === null ? '' : `${short(kept)}x`,
  ]);
  const verdicts = goals.map(({ row, peer, most, measured: ratio, fresh, met, floor: least }) => [
    row,
    peer,
    `≤ ${most}x`,
    ratio === null ? '-' : `${short(ratio)}x`,
    fresh === null ? '-' : `${short(fresh)}x`,
    least === null ? '-' : `${short(least)}x`,
    met === null ? 'not measured' : met ? 'met' : 'missed',
  ]);
  return `${table(['work', 'engine', 'median ms', 'q1–q3 ms', 'runs', 'ours ÷ theirs', 'kept ÷ theirs'], cells)}\n\n${ABOUT}\n\n${table(['goal', 'peer', 'most', 'kept', 'fresh', 'floor', 'verdict'], verdicts)}\n\n${renderMemory(memory)}`;
}

const ABOUT =
  "Ours runs in a process that can be killed, and its time is host to host: with a fresh isolate for each run, or kept (isolation 'tenant', which the goals\nare about). The time of a peer is taken inside its process; tool calls\nof peers are function calls, but for run, which calls from a thread, and QuickJS in a process, which has the pipes of ours. Milliseconds are of this machine; goals are ratios of one run.\nFloor: the smallest interpreter of our kind in a kept isolate, divided by the peer; for the loop, 10 k items, entries, the text and records with the accounts\nof fuel, bytes and lengths that ours keeps, for all other rows without (bench/peerfloors.ts, bench/meteredfloor.ts).";
