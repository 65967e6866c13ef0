import type { Command } from 'commander';
import { generateKeys, keyringFrom } from '../../aeiou/index.ts';
import { type CallAnswer, LoopController, runtimeExecutor, systemClock, type Waiting } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { decode } from '../../wire/codec.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { ValueError } from '../../wire/values.ts';
import { addConfig, configuredFor, type DriveFlags } from '../config/settings.ts';
import { addAgent, readAgent } from '../flags/agent.ts';
import { addApproval } from '../flags/approval.ts';
import { addLimits } from '../flags/options.ts';
import { addSession, LOG, STREAM } from '../flags/session.ts';
import { readSetup } from '../flags/setup.ts';
import { openStore, storeName } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { drive, usable } from './drive.ts';

interface CompleteFlags extends DriveFlags {
  readonly store?: string;
  readonly call: string;
  readonly result?: string;
  readonly error?: string;
  readonly acceptChanged?: true;
}

const HELP = `
A session waits when a tool answered "pending"; "sessions list" shows the call.
The answer must be of the type that the tool declares, so name the tools that
the session runs with. With --agent the session then continues, as with
"sessions resume".

Example:
  neuroscript sessions complete job-7 --call 2.1 --result true --store jobs.db \\
    --tools tools.yaml --agent script:agent.txt
`;

/** `sessions complete SID --call ID`: answers the call that a session waits for. `command` has the flags of the store already. */
export function addComplete(command: Command, execute: Execute): void {
  command
    .argument('<SID>', 'session id')
    .requiredOption('--call <ID>', 'the call, such as 2.1: turn 2, first call')
    .option('--result <JSON>', 'the result of the tool')
    .option('--error <TEXT>', 'the tool fails with this message (code 21)')
    .option('--accept-changed', 'complete the call even if the tool declares something else now')
    .option(...LOG)
    .option(...STREAM);
  addAgent(addConfig(command));
  addApproval(command);
  addSession(command, { withSid: false });
  command.option('--json', 'print JSON: the call, or with --agent the session');
  addLimits(command, 'turn')
    .addHelpText('after', HELP)
    .action((sid: string, flags: CompleteFlags) => execute((terminal) => complete(sid, flags, terminal)));
}

async function complete(sid: string, flags: CompleteFlags, terminal: Terminal): Promise<ExitCode> {
  const answer = answerOf(flags);
  const settings = await usable(async () => configuredFor(sid, flags));
  const agent = flags.agent === undefined ? null : await readAgent(settings);
  const waiting = await usable(() => keep(sid, settings, answer));
  if (agent !== null) return drive(settings, agent, { resume: sid }, terminal);
  if (flags.json) terminal.out.json(waiting);
  else
    terminal.out.line(
      `${printable(sid)}: call ${waiting.call} of ${printable(waiting.tool)} is completed; ${nextStep(sid, waiting, flags)}`,
    );
  return EXIT.ok;
}

/** What to do next: answer the other calls that ran together with this one, or continue the session. */
function nextStep(sid: string, { also = [] }: Waiting, flags: CompleteFlags): string {
  const open = also.filter(({ completed }) => !completed).map(({ call, tool }) => `${call} of ${printable(tool)}`);
  return open.length > 0 ? `it still waits for call ${open.join(', ')}` : `go on with: ${resumeCommand(sid, flags)}`;
}

/** The command to continue the session with; the user fills in the agent and the tools. */
function resumeCommand(sid: string, { store }: CompleteFlags): string {
  const where = store === undefined ? '' : ` --store ${storeName(store)}`;
  return `neuroscript sessions resume ${printable(sid)}${where} --agent AGENT`;
}

async function keep(sid: string, flags: CompleteFlags, answer: CallAnswer) {
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  await using store = await openStore(flags.store, { mustExist: true });
  await using runtime = await createRuntime({ ...setup, concurrency: 1 });
  // The keys of this controller sign and verify nothing.
  const keyring = keyringFrom(generateKeys('none'), { clock: systemClock });
  const controller = new LoopController({ executor: runtimeExecutor(runtime), keyring, store });
  return await controller.complete(sid, flags.call, answer, { acceptChanged: flags.acceptChanged ?? false });
}

/** Reads the one of --result and --error that is given. Throws {@link UsageError} for both, none, or an unusable one. */
function answerOf({ result, error }: CompleteFlags): CallAnswer {
  if ((result === undefined) === (error === undefined))
    throw new UsageError('give exactly one of --result JSON and --error TEXT');
  if (result === undefined) return { error: { message: error ?? '' } };
  let value: TaggedJson;
  try {
    value = JSON.parse(result);
  } catch {
    throw new UsageError(`--result is not JSON: ${printable(result.slice(0, 100))}; write a text as '"text"'`);
  }
  try {
    decode(value);
  } catch (cause) {
    if (!(cause instanceof ValueError)) throw cause;
    throw new UsageError(`--result: ${cause.message}`, { cause });
  }
  return { result: value };
}
