// Keeps a host busy with hostile guests, workers, MCP servers, model servers and texts beside honest turns and sessions, and says
// whether it stays as it was: `node test/attack/soak.ts [SECONDS]`. The exit code is 1 when a promise is broken.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
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
import { ATTACKS, type Attacker } from './attacks.ts';
import { adversarial, PIECES, READERS, UNITS } from './foreign.ts';
import { FILES, strike } from './harness.ts';

const SECONDS = Number(process.argv[2] ?? 60);
const PARTS = 20;
/** Parts in which modules are loaded and compiled. */
const WARM_PARTS = 5;
/** The longest piece of work may take so many times the CPU of the calibration loop: 20 ms where that takes 2 ms. */
const MULTIPLE = 10;
/** Units of a foreign text, at most; it has an eighth of what its reader takes. */
const TEXT_UNITS = 64 * 1024;

/** What one part of the time has seen. */
interface Seen {
  runs: number;
  honest: number[];
  longestMs: number;
  readonly wrong: string[];
}

/** What takes its turn again and again; the name and the number of the turn say what it does. */
interface Lane {
  readonly name: string;
  turn(count: number): Promise<readonly string[]>;
}

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

const foreignText: Lane = {
  name: 'text',
  async turn(count) {
    const reader = at(READERS, count);
    const pieces = [...PIECES, ...(reader.pieces ?? [])];
    try {
      const units = Math.min(TEXT_UNITS, (reader.most ?? UNITS) / 8);
      reader.read(adversarial(at(pieces, Math.floor(count / READERS.length)), units));
    } catch (error) {
      if (error instanceof RangeError || error instanceof TypeError) return [`${reader.name}: ${String(error)}`];
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    return [];
  },
};

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

/** CPU milliseconds of this thread, by the scheduler's own clock: what processes count otherwise moves in steps. */
function threadMs(): number {
  return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
}

/** CPU milliseconds of a loop of fixed length: the unit of the longest piece. It takes longer where other processes share the core. */
function calibration(): number {
  const before = threadMs();
  let state = 1;
  for (let step = 0; step < 1_000_000; step++) state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + step;
  return state === 0 ? 0 : threadMs() - before;
}

/** Notes the most CPU that the event loop used between two of its rounds. */
function watchLoop(seen: () => Seen): NodeJS.Timeout {
  let before = threadMs();
  return setInterval(() => {
    const now = threadMs();
    const part = seen();
    part.longestMs = Math.max(part.longestMs, now - before);
    before = now;
  }, 1);
}

const child = spawn(process.execPath, [fileURLToPath(new URL('modelserver.mjs', import.meta.url))], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const [line] = await once(createInterface(child.stdout), 'line');
const { port, deeds }: { port: number; deeds: readonly string[] } = JSON.parse(String(line));
const units: number[] = [];
const nothing = (): Seen => ({ runs: 0, honest: [], longestMs: 0, wrong: [] });
let part = nothing();
const rows: SoakRow[] = [];
const problems: string[] = [];
const longest: number[] = [];
{
  await using runtime = await createRuntime({ policy: { allow: ['*'] } });
  await using guests = await Sandbox.create({ concurrency: 1, files: FILES.guest });
  await using workers = await Sandbox.create({ concurrency: 1, files: FILES.worker });
  const hostile = [
    hostileCode(guests, 'guest'),
    hostileCode(workers, 'worker'),
    hostileServer,
    hostileModel(port, deeds),
    foreignText,
  ];
  const lanes = [honest(runtime, () => part), ...hostile];
  let over = false;
  const counts = new Map<string, number>();
  const running = lanes.map(async ({ name, turn }) => {
    for (let count = 0; !over; count++) {
      const wrong = await turn(count);
      part.wrong.push(...wrong.map((problem) => `${name}: ${problem}`));
      part.runs++;
      counts.set(name, count + 1);
    }
  });
  const watch = watchLoop(() => part);
  for (let done = 1; done <= PARTS; done++) {
    await new Promise((resolve) => setTimeout(resolve, (SECONDS * 1000) / PARTS));
    const { runs, wrong, honest: times, longestMs } = part;
    part = nothing();
    const until = (SECONDS * done) / PARTS;
    rows.push({
      until,
      runs,
      wrong: wrong.length,
      honestMs: summarize(times),
      hostRssBytes: process.memoryUsage.rss(),
      handles: openHandles(),
    });
    problems.push(...wrong);
    longest.push(longestMs);
    units.push(calibration());
  }
  over = true;
  await Promise.all(running);
  clearInterval(watch);
  process.stdout.write(`${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}\n`);
}
child.stdin.end();

const unit = summarize(units)?.median ?? 0;
const most = Math.max(...longest.slice(WARM_PARTS));
process.stdout.write(
  `${renderSoak(rows)}\nlongest piece of CPU: ${most.toFixed(1)} ms, ${(most / unit).toFixed(1)} times the calibration loop of ${unit.toFixed(2)} ms\n`,
);
// The machine decides how fast an honest turn is beside so many others.
const failures = [...soakFailures(rows, true), ...problems.slice(0, 10)];
if (most > MULTIPLE * unit) failures.push(`a piece of CPU took ${most.toFixed(1)} ms, more than ${MULTIPLE} calibration loops`);
for (const failure of failures) process.stdout.write(`FAILED ${failure}\n`);
process.exitCode = failures.length === 0 ? 0 : 1;
