// Keeps a host busy with hostile guests, workers, MCP servers, model servers and texts beside honest turns and sessions, and says
// whether it stays as it was: `node test/attack/soak.ts [SECONDS]`, after a warm-up that does not count. The exit code is 1 when a
// promise is broken. Time is CPU time of the host's thread, so that a busy machine does not matter.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { RawProcess } from '../../bench/rawprocess.ts';
import { openHandles, renderSoak, type SoakRow, soakFailures } from '../../bench/soak.ts';
import { summarize } from '../../bench/stats.ts';
import { generateKeys, keyringFrom } from '../../src/aeiou/index.ts';
import { createRuntime, type Runtime } from '../../src/entries/index.ts';
import {
  AgentError,
  functionAgent,
  LoopController,
  MemoryStore,
  openaiAgent,
  programReply,
  systemClock,
} from '../../src/loop/index.ts';
import { McpError, McpSource } from '../../src/mcp/index.ts';
import { Sandbox } from '../../src/sandbox/index.ts';
import { defineTool } from '../../src/tools/index.ts';
import { fsTools } from '../../stdlib-tools/index.ts';
import { ATTACKS, type Attacker } from './attacks.ts';
import { adversarial, type ForeignReader, PIECES, READERS, UNITS } from './foreign.ts';
import { FILES, strike } from './harness.ts';
import { calibration, type Piece, PieceWatch } from './pieces.ts';

const SECONDS = Number(process.argv[2] ?? 60);
const PARTS = 20;
/** Seconds in which modules are loaded, attacks are made for the first time, and functions are compiled. */
const WARM_SECONDS = Math.max(30, SECONDS / 4);
/** Seconds in which the honest lane is alone, which its times beside the others are compared with. */
const ALONE_SECONDS = 10;
/** A turn takes at most so many times as long beside the others as alone. */
const SLOWER = 5;
/**
 * The longest piece of work may take so many times the CPU of the calibration loop: 20 ms where that takes 2 ms. `standard.test.ts` holds each kind
 * of work to that alone, three times; a part of a short soak is one sample of all of them at once, and finds what takes twice as long.
 */
const MULTIPLE = SECONDS < 600 ? 20 : 10;
/** Units of a foreign text, at most; it has an eighth of what its reader takes. */
const TEXT_UNITS = 64 * 1024;
/** The exit code of a command that met a defect of its own. */
const CRASHED = 70;
/** Most milliseconds of a command that reads a file. */
const COMMAND_MS = 60_000;
const CLI = fileURLToPath(new URL('../../bin/neuroscript.js', import.meta.url));

interface Seen {
  runs: number;
  honest: number[];
  /** Milliseconds of a raw isolate in a process, which the machine alone slows down. */
  raw: number[];
  readonly wrong: string[];
}

/** What takes its turn again and again; the name and the number of the turn say what it does. */
interface Lane {
  readonly name: string;
  turn(count: number): Promise<readonly string[]>;
}

setFlagsFromString('--expose-gc');
/** Collects garbage, which would otherwise come and go by 100 MB within a minute. */
const collect: () => void = runInNewContext('gc');

const at = <T>(list: readonly T[], index: number): T => {
  const item = list[index % list.length];
  if (item === undefined) throw new Error('the list is empty');
  return item;
};

function hostileCode(sandbox: Sandbox, by: Attacker): Lane {
  const attacks = ATTACKS.filter((attack) => attack.by.includes(by));
  return {
    name: by,
    turn: async (count) => {
      const attack = at(attacks, count);
      return (await strike(sandbox, by, attack)).map((problem) => `${attack.name}: ${problem}`);
    },
  };
}

const MODES = ['hang', 'huge', 'endless', 'trickle', 'flood', 'garbage', 'die', 'lie', 'redos'];
const SERVER = fileURLToPath(new URL('../mcp/server.ts', import.meta.url));

/** Connects to a hostile MCP server and calls its tool in a program. Whatever it does is an error that has a type. */
const hostileServer: Lane = {
  name: 'MCP',
  async turn(count) {
    const mode = at(MODES, count);
    const config = { command: process.execPath, args: ['--no-warnings', SERVER, mode], timeoutMs: 3_000, messageBytes: 2 ** 20 };
    try {
      await using source = await McpSource.connect({ s: config });
      const trap = source.tools.find(({ name }) => name === 'tool.s.trap');
      if (trap === undefined) return [`${mode}: there is no trap`];
      await using runtime = await createRuntime({
        tools: [trap],
        policy: { allow: ['*'], grants: ['mcp:call:s'] },
        concurrency: 1,
      });
      const { error } = await runtime.run('command\n  emit tool.s.trap({})\nendcommand\n', { limits: { toolMs: 2_000 } });
      return error === null || /^(NS\d+|ERR_TIMEOUT)$/.test(error.code) ? [] : [`${mode}: ${error.code}`];
    } catch (error) {
      return error instanceof McpError ? [] : [`${mode}: ${String(error)}`];
    }
  },
};

/** Deeds that end in a reply, of many pieces or cut off. */
const REPLIES: ReadonlySet<string> = new Set(['pieces', 'endless']);

function hostileModel(port: number, deeds: readonly string[]): Lane {
  return {
    name: 'model',
    async turn(count) {
      const deed = at(deeds, count);
      const agent = openaiAgent({
        model: 'm',
        baseUrl: `http://127.0.0.1:${port}/${deed}/v1`,
        timeoutMs: 1_000,
        retry: { retries: 0 },
      });
      const request = {
        sid: 's',
        turn: 1,
        attempt: 1,
        system: 's',
        prompt: 'p',
        maxTokens: null,
        signal: AbortSignal.timeout(5_000),
      };
      const outcome = await agent.reply(request).then(
        () => null,
        (error: unknown) => error,
      );
      return outcome instanceof AgentError || (outcome === null && REPLIES.has(deed)) ? [] : [`${deed}: ${String(outcome)}`];
    },
  };
}

const LARGE_BYTES = 8 * 2 ** 20 - 64;
const large = defineTool({
  name: 'tool.hostile.Large',
  run: async (_, { signal }) => {
    await pause(20);
    return signal.aborted ? null : 'x'.repeat(LARGE_BYTES);
  },
});

/** On a busy machine the elapsed time would end runs before their other limits. */
const LONG = { toolMs: 600_000, wallMs: 600_000 };

/** Sixty-four calls at once, in the runtime of the honest turns: each row is a call and the limit that ends the run. */
const TOGETHER = [
  ['tool.fs.Read("large")', 'journalBytes'],
  ['tool.hostile.Large()', 'journalBytes'],
  ['tool.fs.Hash("large")', 'cpuMs'],
  ['tool.fs.LineCount("large")', 'cpuMs'],
] as const;

function hostileCalls(runtime: Runtime): Lane {
  return {
    name: 'together',
    async turn(count) {
      const [call, limit] = at(TOGETHER, count);
      const source = `command\n  for each i, x in "${'x'.repeat(64)}" together\n    set r[i] = ${call}\n  endfor\nendcommand\n`;
      const limits = { cpuMs: 500, memoryBytes: 2 ** 28 };
      const { error } = await runtime.run(source, { limits, tenant: 'hostile' });
      await pause(200);
      return error?.limit === limit ? [] : [`${call}: ${error?.code} ${error?.limit}`];
    },
  };
}

const IN_TURNS = READERS.filter(({ alone }) => alone !== true);
const IN_FILES = READERS.filter(({ alone }) => alone === true);

/** The pieces of a reader, one after another, as texts. */
function textOf({ pieces = [], most = UNITS }: ForeignReader, round: number): string {
  return adversarial(at([...PIECES, ...pieces], round), Math.min(TEXT_UNITS, most / 8));
}

const foreignText: Lane = {
  name: 'text',
  async turn(count) {
    const reader = at(IN_TURNS, count);
    try {
      await reader.read(textOf(reader, Math.floor(count / IN_TURNS.length)));
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return [`${reader.name}: ${String(error)}`];
    }
    await pause(20);
    return [];
  },
};

/** Gives files to commands. They refuse whatever is in them, but for the one that describes it. */
function foreignFile(folder: string): Lane {
  const program = join(folder, 'p.ns');
  writeFileSync(program, 'command\n  emit 1\nendcommand\n');
  const commands = [['inspect'], ['log', 'verify'], ['replay'], ['run', program, '--tools'], ['run', program, '--policy']];
  const file = join(folder, 'file');
  return {
    name: 'file',
    async turn(count) {
      const reader = at(IN_FILES, count);
      writeFileSync(file, textOf(reader, Math.floor(count / IN_FILES.length)));
      const command = at(commands, count);
      const args = ['--no-warnings', CLI, ...command, file];
      const started = spawn(process.execPath, args, { stdio: 'ignore', timeout: COMMAND_MS });
      const [code, signal] = await once(started, 'exit');
      await pause(500);
      const refused = code !== null && code !== 0 && code !== CRASHED;
      return refused || (code === 0 && command[0] === 'inspect')
        ? []
        : [`${command.join(' ')}: ${reader.name}: ${code ?? signal}`];
    },
  };
}

/** Honest turns, and now and then a session of two turns that a token continues. */
function honest(runtime: Runtime, seen: () => Seen): Lane {
  return {
    name: 'honest',
    async turn(count) {
      const start = performance.now();
      const { emits } = await runtime.run(`command\n  set n = ${count}\n  emit n * 2\n  emit typeof leaked\nendcommand\n`);
      seen().honest.push(performance.now() - start);
      const wrong = emits.join() === `${count * 2},nil` ? [] : [`the run of ${count} gave ${emits.join()}`];
      if (count % 20 !== 0) return wrong;
      return [...wrong, ...(await session(runtime, `s${count}`))];
    },
  };
}

/** A raw isolate, now and then. */
function bare(raw: RawProcess, seen: () => Seen): Lane {
  return {
    name: 'raw',
    async turn() {
      seen().raw.push((await raw.run('1')).ms);
      await pause(50);
      return [];
    },
  };
}

const keyring = keyringFrom(generateKeys('soak'), { clock: systemClock });

async function session(runtime: Runtime, sid: string): Promise<readonly string[]> {
  const action = (turn: number): string => (turn === 1 ? 'continue' : 'done');
  const agent = functionAgent(({ turn }) =>
    programReply(`command\n  emit "turn ${turn}"\n  emit tool.aeiou.magic("LOOP", {"action": "${action(turn)}"})\nendcommand\n`),
  );
  const loop = new LoopController({ runtime, keyring, store: new MemoryStore() });
  const { decision, reason } = await loop.runLoop({ agent, sid, userdata: { subject: 'soak', fields: {} }, maxTurns: 5 });
  return decision === 'DONE' ? [] : [`session ${sid} ended with ${decision} ${reason}`];
}

const child = spawn(process.execPath, [fileURLToPath(new URL('modelserver.mjs', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [line] = await once(createInterface(child.stdout), 'line');
const { port, deeds }: { port: number; deeds: readonly string[] } = JSON.parse(String(line));
const units: number[] = [];
const nothing = (): Seen => ({ runs: 0, honest: [], raw: [], wrong: [] });
const folder = mkdtempSync(join(tmpdir(), 'soak-'));
let part = nothing();
const rows: SoakRow[] = [];
const problems: string[] = [];
const pieces: Piece[] = [];
/** Milliseconds of honest turns. */
const alone = nothing();
const beside = nothing();
let breaches = 0;
{
  writeFileSync(join(folder, 'large'), 'x'.repeat(LARGE_BYTES));
  const tools = [...fsTools({ directoryOf: async () => folder }), large];
  await using runtime = await createRuntime({ tools, policy: { allow: ['*'], grants: ['*:*:*'] }, limits: LONG });
  await using guests = await Sandbox.create({ concurrency: 1, files: FILES.guest });
  await using workers = await Sandbox.create({ concurrency: 1, files: FILES.worker });
  const hostile = [
    hostileCode(guests, 'guest'),
    hostileCode(workers, 'worker'),
    hostileCalls(runtime),
    hostileServer,
    hostileModel(port, deeds),
    foreignText,
    foreignFile(folder),
  ];
  const counts = new Map<string, number>();
  let over = false;
  const run = async ({ name, turn }: Lane): Promise<void> => {
    for (let count = 0; !over; count++) {
      const wrong = await turn(count);
      part.wrong.push(...wrong.map((problem) => `${name}: ${problem}`));
      part.runs++;
      counts.set(name, count + 1);
    }
  };
  await using raw = await RawProcess.open();
  const running = [run(honest(runtime, () => part)), run(bare(raw, () => part))];
  await pause(ALONE_SECONDS * 500);
  part = nothing();
  await pause(ALONE_SECONDS * 500);
  alone.honest.push(...part.honest);
  alone.raw.push(...part.raw);
  running.push(...hostile.map(run));
  await pause(WARM_SECONDS * 1000);
  part = nothing();
  using watch = new PieceWatch();
  for (let done = 1; done <= PARTS; done++) {
    await pause((SECONDS * 1000) / PARTS);
    const { runs, wrong, honest: times, raw: bare } = part;
    beside.honest.push(...times);
    beside.raw.push(...bare);
    part = nothing();
    const piece = watch.part();
    if (piece !== null) pieces.push(piece);
    const until = (SECONDS * done) / PARTS;
    collect();
    rows.push({
      until,
      runs,
      wrong: wrong.length,
      honestMs: summarize(times),
      rawMs: summarize(bare),
      hostRssBytes: process.memoryUsage.rss(),
      handles: openHandles(),
    });
    problems.push(...wrong);
    units.push(calibration());
  }
  over = true;
  await Promise.all(running);
  breaches = runtime.boundaryBreaches;
  process.stdout.write(`${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}\n`);
}
child.stdin.end();
rmSync(folder, { recursive: true });

const unit = summarize(units)?.median ?? 0;
const worst = pieces.toSorted((a, b) => b.workMs - a.workMs).slice(0, 3);
process.stdout.write(`${renderSoak(rows)}\nlongest pieces of CPU, in calibration loops of ${unit.toFixed(2)} ms:\n`);
for (const { workMs, collectedMs, spawnedMs, doing } of worst) {
  const besides = `and ${collectedMs.toFixed(1)} ms for garbage, ${spawnedMs.toFixed(1)} ms to start processes`;
  process.stdout.write(`${(workMs / unit).toFixed(1)} (${besides}): ${doing.join('; ')}\n`);
}
/** The times of honest turns as multiples of those of a raw isolate at the same time. */
const slowness = [alone, beside].map(({ honest: times, raw }) => {
  const [turns, bare] = [summarize(times), summarize(raw)];
  const multiple = (turns?.median ?? Number.NaN) / (bare?.median ?? Number.NaN);
  const ms = (value: number | null | undefined): string => (value ?? Number.NaN).toFixed(1);
  const of = `median ${ms(turns?.median)} ms, p95 ${ms(turns?.p95)}, p99 ${ms(turns?.p99)}, most ${ms(turns?.max)}`;
  process.stdout.write(`${turns?.samples} honest turns: ${of}; ${multiple.toFixed(1)} times a raw isolate\n`);
  return multiple;
});
const [before, after] = [alone, beside].map(({ honest: times }) => summarize(times));
const plain = (one?: number | null, other?: number | null): string => ((one ?? Number.NaN) / (other ?? Number.NaN)).toFixed(1);
process.stdout.write(
  `beside the others by alone: median ${plain(after?.median, before?.median)}, p99 ${plain(after?.p99, before?.p99)}, most by median ${plain(after?.max, before?.median)}; other work of the machine counts here\n`,
);
const slower = (slowness[1] ?? Number.NaN) / (slowness[0] ?? Number.NaN);
// The trend of their times is the machine's.
const failures = [...soakFailures(rows, true), ...problems.slice(0, 10)];
/** What the pieces that are too long did most, but for what the attackers' own code did. Whatever else the machine does makes any piece long, but hardly the same one in two parts. */
const long = pieces
  .filter(({ workMs }) => workMs > MULTIPLE * unit)
  .map(({ doing: [most = ''] }) => most.replace(/^\S+ ms /, ''))
  .filter((name) => !/^\w+ \(attack\//.test(name));
for (const name of new Set(long.filter((each, index) => long.indexOf(each) < index)))
  failures.push(`pieces of CPU took more than ${MULTIPLE} calibration loops in several parts: ${name || 'what is unknown'}`);
if (!(slower <= SLOWER)) failures.push(`honest turns took ${slower.toFixed(1)} times as long beside the others as alone`);
if (breaches > 0) failures.push(`${breaches} breaches of the boundary were counted for honest turns`);
for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
