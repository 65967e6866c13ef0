import { type Command, Option } from 'commander';
import { parseStrict } from '../aeiou/index.ts';
import { type Agent, scriptAgent, scriptV1Agent } from '../loop/index.ts';
import { addApproval, asksApproval } from './approval.ts';
import { type DriveFlags, drive } from './drive.ts';
import type { ExitCode } from './exit.ts';
import { UsageError } from './failure.ts';
import { readText } from './input.ts';
import { loopV1 } from './loopv1.ts';
import { addLimits, wholeNumber } from './options.ts';
import { configText, named } from './setup.ts';
import type { Execute, Terminal } from './terminal.ts';
import { printable } from './text.ts';
import { addSession } from './turn.ts';

/** The flags of `loop`. */
export interface LoopFlags extends DriveFlags {
  readonly agent: string;
  readonly userdata?: string;
  readonly profile: 'v3' | 'v1';
  readonly oneTurn?: true;
}

const HELP = `
The host loop asks the agent for an envelope, executes its ACTIONS in a fresh sandbox, verifies the control token it
emitted, decides, and goes on while the decision is CONTINUE. What happened is explained turn by turn. Limits hold for
each turn. Exits 0 for DONE, 10 for ABORT, 11 for HALT (124, 5 and 4 where the reason is time, a quota or a size, or
policy).

Profiles:
  v3   control by signed tokens of tool.aeiou.magic
  v1   control by JSON on the first line of OUTPUT, or by markers such as "[[loop:done]]"; no token, key or log file

Agents:
  script:FILE   plays a transcript: one envelope a turn, with any prose around it

Example:
  neuroscript loop --agent script:agent.txt --tools tools.yaml --userdata userdata.json
`;

/** Most bytes of an agent's transcript. */
const TRANSCRIPT_BYTES = 16 * 1024 * 1024;

/** USERDATA of a session that was given none. */
const NO_USERDATA = { subject: 'session', fields: {} };

/** `loop`: a whole session with an agent. */
export function addLoop(program: Command, execute: Execute): void {
  const command = program
    .command('loop')
    .summary('run a whole session with an agent')
    .description('Runs the host loop: an agent writes programs, the host executes them and decides after each.')
    .requiredOption('--agent <AGENT>', 'who writes the programs: script:FILE')
    .option('--userdata <FILE>', 'JSON file with the USERDATA of every envelope')
    .option('--max-turns <N>', 'most turns of the session (default: 25; v1: 4, at most 25)', wholeNumber('--max-turns', 1))
    .addOption(new Option('--profile <PROFILE>', 'how programs control the loop').choices(['v3', 'v1']).default('v3'))
    .option('--one-turn', 'v1: the agent may not loop, one turn is all it gets')
    .option('--max-fuel <N>', 'most fuel of the whole session, all turns together', wholeNumber('--max-fuel', 1))
    .option('--store <FILE>', 'keep the session in this file, so that it can be resumed (see "neuroscript sessions")')
    .option('--log <FILE>', 'append one JSON line per decision to this file, each chained to the one before');
  addSession(command);
  command.option('--json', 'print the session as one JSON object');
  addLimits(addApproval(command), 'turn')
    .addHelpText('after', HELP)
    .action((flags: LoopFlags) => execute((terminal) => (flags.profile === 'v1' ? profileV1 : loop)(flags, terminal)));
}

async function loop(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.oneTurn) throw new UsageError('--one-turn belongs to --profile v1; in v3, --max-turns 1 halts after one turn');
  const agent = await readAgent(flags.agent, scriptAgent);
  return drive(flags, agent, { userdata: await userdataOf(flags.userdata), sid: flags.sid }, terminal);
}

/** The agent that a flag names; `script` plays a transcript. */
export async function readAgent(text: string, script: (transcript: string, name: string) => Agent): Promise<Agent> {
  const [, file] = /^script:(.+)$/s.exec(text) ?? [];
  if (file === undefined) throw new UsageError(`there is no agent '${printable(text)}'; write --agent script:FILE`);
  const transcript = await readText(file, TRANSCRIPT_BYTES, () => {
    throw new UsageError('a transcript cannot be read from standard input; name a file');
  });
  return named(file, () => script(transcript, file));
}

async function profileV1(flags: LoopFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.store !== undefined || flags.maxFuel !== undefined)
    throw new UsageError('--store and --max-fuel belong to --profile v3');
  if (asksApproval(flags)) throw new UsageError('approvals belong to --profile v3');
  const agent = await readAgent(flags.agent, scriptV1Agent);
  return loopV1(flags, terminal, { agent, userdata: await userdataOf(flags.userdata) });
}

/** USERDATA of a file; without one, of a session that was given none. */
async function userdataOf(file: string | undefined): Promise<unknown> {
  return file === undefined ? NO_USERDATA : readUserdata(file);
}

async function readUserdata(file: string): Promise<unknown> {
  const text = await configText(file);
  return named(file, () => parseStrict(text, { numbers: 'doubles', padding: true }));
}
