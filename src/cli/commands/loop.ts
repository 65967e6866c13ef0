import { type Command, Option } from 'commander';
import { type Agent, AskLoop, runtimeExecutor, toPublicV1Loop, type V1LoopEvent, type V1LoopResult } from '../../loop/index.ts';
import { explainV1End, explainV1Turn } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { addConfig, CONFIG_HELP, configured, type DriveFlags, type Settings } from '../config/settings.ts';
import { AGENT_HELP, addAgent, readAgent, systemOf } from '../flags/agent.ts';
import { addApproval, asksApproval } from '../flags/approval.ts';
import { addCeilings } from '../flags/ceilings.ts';
import { MODELS_HELP } from '../flags/models.ts';
import { addLimits } from '../flags/options.ts';
import { Recorder } from '../flags/record.ts';
import { addSession, LOG, STREAM, sourcesOf } from '../flags/session.ts';
import { readSetup } from '../flags/setup.ts';
import { STORE_PLACE, storeFile } from '../flags/store.ts';
import { EXIT, type ExitCode, exitOf } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { drive } from './drive.ts';
import { USERDATA_FLAG, userdataOf } from './open.ts';

interface LoopFlags extends DriveFlags {
  readonly userdata?: string;
  readonly profile: 'v3' | 'v1' | 'v1-once';
}

const HELP = `
The host loop asks the agent for an envelope, executes its ACTIONS in a fresh
sandbox, verifies the control token that the program emitted, and decides. It
goes on while the decision is CONTINUE, and explains every turn without its
SCRATCHPAD, which is private. Limits hold for each turn. Exits with 0 for DONE,
10 for ABORT and 11 for HALT (124, 5 or 4 when the reason is time, a quota or a
size, or policy).

Profiles:
  v3   signed tokens of tool.aeiou.magic control the loop
  v1   JSON on the first line of OUTPUT, or markers such as "[[loop:done]]",
       control the loop; there are no tokens, keys, store or log file
${AGENT_HELP}${MODELS_HELP}${CONFIG_HELP}
Sessions are kept so that "neuroscript sessions" can show and resume them. The
file holds prompts, outputs and tool results, and only you can read it. --store
FILE names another file; --store none keeps nothing.

Examples:
  neuroscript loop --agent script:agent.txt --tools tools.yaml \\
    --userdata userdata.json
  neuroscript loop --agent model:qwen3:8b --base-url http://127.0.0.1:11434/v1
  neuroscript loop --config night.yaml --userdata job.json
`;

/** `loop`: a whole session with an agent. */
export function addLoop(program: Command, execute: Execute): void {
  const command = program
    .command('loop')
    .summary('run a whole session with an agent')
    .description('Runs the host loop: an agent writes programs, the host executes them and decides after each.');
  addAgent(addConfig(command));
  command
    .option(...USERDATA_FLAG)
    .addOption(
      new Option('--profile <PROFILE>', 'how programs control the loop; v1-once: the agent gets one turn and may not loop')
        .choices(['v3', 'v1', 'v1-once'])
        .default('v3'),
    );
  addSession(command);
  command
    .option('--store <FILE>', `where the session is kept (default: ${STORE_PLACE}); 'none': nowhere`)
    .option(...LOG)
    .option(...STREAM)
    .option('--json', 'print the session as one JSON object');
  addCeilings(command);
  addLimits(addApproval(command), 'turn').addHelpText('after', HELP).action(execute(loop));
}

async function loop(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  const settings = await configured(flags);
  if (flags.profile !== 'v3') return profileV1(settings, terminal);
  const agent = await readAgent(settings);
  return drive(settings, agent, { userdata: await userdataOf(flags.userdata, terminal), sid: flags.sid }, terminal);
}

const OF_V3 = [
  'keys',
  'durable',
  'log',
  'metrics',
  'maxReasks',
  'repair',
  'approve',
  'bound',
  'library',
  'rehearse',
  'stream',
  'grammar',
  'models',
] as const;

async function profileV1(flags: LoopFlags & Settings, terminal: Terminal): Promise<ExitCode> {
  const found = OF_V3.find((name) => flags[name] !== undefined);
  if (found !== undefined) throw new UsageError(`${spelled(found)} cannot be combined with --profile v1`);
  if (storeFile(flags.store ?? 'none') !== null)
    throw new UsageError('--store cannot be combined with --profile v1: such a loop is not kept');
  if (asksApproval(flags)) throw new UsageError('approvals cannot be combined with --profile v1');
  const agent = await readAgent(flags, 'v1');
  return loopV1(flags, terminal, { agent, userdata: await userdataOf(flags.userdata, terminal) });
}

/** The settings that are keys of configurations alone. */
const KEYS: ReadonlySet<string> = new Set(['durable', 'metrics', 'grammar', 'bound', 'library']);

/** The flag of a setting, or the key of one that is a key of configurations alone. */
function spelled(name: (typeof OF_V3)[number]): string {
  if (KEYS.has(name)) return `'${name}' of a configuration`;
  return name === 'maxReasks' ? '--max-reasks' : `--${name}`;
}

type V1Flags = Settings & { readonly profile: string };

interface V1Inputs {
  readonly agent: Agent;
  readonly userdata: unknown;
}

/** `loop --profile v1`: a whole Ask-Loop. */
async function loopV1(flags: V1Flags, terminal: Terminal, { agent, userdata }: V1Inputs): Promise<ExitCode> {
  const { clock, ids } = sourcesOf(flags);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  const recorder = await Recorder.open(flags.record);
  await using runtime = await createRuntime({ ...setup, limits: flags.limits, concurrency: 1 });
  const loop = new AskLoop({
    executor: runtimeExecutor(runtime),
    clock,
    ids,
    system: await systemOf(flags, setup, 'v1'),
    ceilings: {
      maxTurns: flags.maxTurns,
      wallMs: flags.maxTime,
      totalFuel: flags.maxFuel,
      totalTokens: flags.maxTokens,
      turnTokens: flags.maxTurnTokens,
    },
  });
  const print = (lines: readonly string[]) => {
    for (const line of lines) terminal.out.line(line);
  };
  const show = (event: V1LoopEvent) => {
    if (event.type !== 'decided') return;
    recorder?.add(event.record.journal);
    if (!flags.json) print([...explainV1Turn(event.record, event.decision, terminal.paintOut), '']);
  };
  const result = await loop.run({
    agent,
    userdata,
    permitted: flags.profile !== 'v1-once',
    signal: terminal.interrupt,
    loopId: flags.sid,
    onEvent: show,
  });
  if (flags.json) terminal.out.json(toPublicV1Loop(result));
  else print(explainV1End(result, terminal.paintOut));
  await recorder?.save(setup.tools, terminal);
  return exitOfV1(result);
}

/** The exit code, as for v3: 0 done, 10 aborted, 11 halted; for time, quotas, policy and cancellation as in a run. */
function exitOfV1({ decision, error }: V1LoopResult): ExitCode {
  if (decision === 'ABORT') return EXIT.abort;
  if (decision === 'DONE') return exitOf(error);
  const own = error !== null && ['timeout', 'quota', 'policy', 'cancelled'].includes(error.kind);
  return own ? exitOf(error) : EXIT.halt;
}
