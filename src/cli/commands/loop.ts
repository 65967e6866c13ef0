import { type Command, Option } from 'commander';
import { AGENT_HELP, addAgent, readAgent } from '../flags/agent.ts';
import { addApproval, asksApproval } from '../flags/approval.ts';
import { addCeilings } from '../flags/ceilings.ts';
import { MODELS_HELP } from '../flags/models.ts';
import { addLimits } from '../flags/options.ts';
import { STORE_PLACE, storeFile } from '../flags/store.ts';
import type { ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { type DriveFlags, drive, usable } from './drive.ts';
import { loopV1 } from './loopv1.ts';
import { durableOption, open, userdataOf } from './open.ts';
import { addSession } from './turn.ts';

/** The flags of `loop`. */
export interface LoopFlags extends DriveFlags {
  readonly agent?: string;
  readonly userdata?: string;
  readonly profile: 'v3' | 'v1';
  readonly oneTurn?: true;
  readonly detach?: true;
  readonly tenant?: string;
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
${AGENT_HELP}${MODELS_HELP}
Sessions are kept so that "neuroscript sessions" can show and resume them. The
file holds prompts, outputs and tool results, and only you can read it. --store
FILE names another file; --store none keeps nothing.

Examples:
  neuroscript loop --agent script:agent.txt --tools tools.yaml \\
    --userdata userdata.json
  neuroscript loop --agent model:qwen3:8b --base-url http://127.0.0.1:11434/v1
`;

/** `loop`: a whole session with an agent. */
export function addLoop(program: Command, execute: Execute): void {
  const command = program
    .command('loop')
    .summary('run a whole session with an agent')
    .description('Runs the host loop: an agent writes programs, the host executes them and decides after each.');
  addAgent(command, { required: false });
  command
    .option('--userdata <FILE>', 'JSON file with the USERDATA of every envelope')
    .addOption(new Option('--profile <PROFILE>', 'how programs control the loop').choices(['v3', 'v1']).default('v3'))
    .option('--one-turn', 'v1: the agent gets one turn and may not loop');
  addSession(command);
  command
    .option('--store <FILE>', `where the session is kept (default: ${STORE_PLACE}); 'none': nowhere`)
    .option('--detach', 'put the session into the store for a host to drive, and print its id')
    .option('--tenant <ID>', 'with --detach: whose session it is')
    .addOption(durableOption())
    .option('--log <FILE>', 'append one JSON line per decision to this file, each chained to the one before')
    .option('--stream', "print the agent's replies on standard error while it writes them")
    .option('--metrics', 'print the counters of the session on standard error, as Prometheus reads them')
    .option('--json', 'print the session as one JSON object');
  addCeilings(command);
  addLimits(addApproval(command), 'turn')
    .addHelpText('after', HELP)
    .action((flags: LoopFlags) => execute((terminal) => (flags.profile === 'v1' ? profileV1 : loop)(flags, terminal)));
}

async function loop(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.oneTurn) throw new UsageError('--one-turn belongs to --profile v1; in v3, --max-turns 1 halts after one turn');
  if (flags.detach) return detach(flags, terminal);
  if (flags.tenant !== undefined) throw new UsageError('--tenant belongs to --detach');
  const agent = await readAgent(withAgent(flags));
  return drive(flags, agent, { userdata: await userdataOf(flags.userdata), sid: flags.sid }, terminal);
}

function withAgent(flags: LoopFlags): LoopFlags & { readonly agent: string } {
  const { agent } = flags;
  if (agent === undefined) throw new UsageError("required option '--agent <AGENT>' not specified");
  return { ...flags, agent };
}

/** The flags that a host sets in its own configuration. */
const OF_HOSTS = ['agent', 'tools', 'policy', 'mcp', 'models', 'storage', 'keys', 'system', 'maxTime'] as const;

async function detach(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  for (const flag of OF_HOSTS)
    if (flags[flag] !== undefined)
      throw new UsageError(`--${dashed(flag)} and --detach cannot both be given: the host that drives the session has its own`);
  // The profile of a loop is its protocol, and that of a session names a kind of hosts.
  const { profile: _, ...session } = flags;
  return usable(() => open(session, terminal));
}

async function profileV1(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  for (const flag of [
    'keys',
    'durable',
    'detach',
    'tenant',
    'log',
    'metrics',
    'maxReasks',
    'stream',
    'grammar',
    'smallGrammar',
  ] as const)
    if (flags[flag] !== undefined)
      throw new UsageError(`--${dashed(flag)} belongs to --profile v3: see "neuroscript loop --help" for what v1 does not have`);
  if (storeFile(flags.store ?? 'none') !== null) throw new UsageError('--store belongs to --profile v3: a v1 loop is not kept');
  if (flags.models !== undefined) throw new UsageError('--models belongs to --profile v3: programs of v1 cannot ask a model');
  if (asksApproval(flags)) throw new UsageError('approvals belong to --profile v3');
  const agent = await readAgent(withAgent(flags), 'v1');
  return loopV1(flags, terminal, { agent, userdata: await userdataOf(flags.userdata) });
}

function dashed(flag: string): string {
  return flag.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
