import type { Command } from 'commander';
import { NO_PROGRESS_YET, ReplayCache } from '../../aeiou/index.ts';
import {
  type Clock,
  fixedClock,
  type Ids,
  randomIds,
  readTurn,
  runTurn,
  runtimeExecutor,
  seededIds,
  systemClock,
  toPublicTurn,
  withNonce,
} from '../../loop/index.ts';
import { explainTurn } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { BOUND, readBound } from '../flags/bound.ts';
import { addModels, type ModelFlags, readModels } from '../flags/models.ts';
import { addLimits, limitsOf, wholeNumber } from '../flags/options.ts';
import { RECORD_HELP, Recorder } from '../flags/record.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { withAdvice } from '../terminal/denial.ts';
import { type ExitCode, exitOfDecision } from '../terminal/exit.ts';
import { readBytes } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

/** The flags that make sessions repeatable. */
export interface RepeatFlags {
  readonly sid?: string;
  readonly now?: number;
  readonly ids?: string;
}

interface TurnFlags extends SetupFlags, ModelFlags, RepeatFlags {
  readonly turn: number;
  readonly nonce?: string;
  readonly keys?: string;
  readonly bound?: string;
  readonly json?: true;
}

const HELP = `
The command executes the envelope in a fresh sandbox, and the program's output
decides: the control token of tool.aeiou.magic must verify for exactly this
session, turn and nonce. Exits with 0 for CONTINUE and DONE, 10 for ABORT and
11 for HALT (124, 5 or 4 when the reason is time, a quota or a size, or
policy).

Examples:
  neuroscript turn envelope.txt --tools mocks.yaml
  neuroscript turn envelope.txt --sid demo --now 1760000000 --ids seed --json
`;

/** Maximum bytes of an envelope's file; the protocol itself refuses smaller sizes. */
const ENVELOPE_BYTES = 16 * 1024 * 1024;

/** `turn ENVELOPE`: executes one AEIOU v3 envelope and decides. */
export function addTurn(program: Command, execute: Execute): void {
  const command = program
    .command('turn')
    .summary('execute one AEIOU v3 envelope and decide')
    .description('Executes the ACTIONS of one AEIOU v3 envelope and decides: CONTINUE, DONE, ABORT or HALT.')
    .argument('<ENVELOPE>', "file with one envelope; '-' is standard input")
    .option('--turn <N>', 'index of the turn', wholeNumber('--turn', 1), 1)
    .option('--nonce <B64URL>', 'the nonce of the turn: 16 bytes in base64url');
  addSession(command);
  command.option(...BOUND).option('--json', 'print the decision as a JSON object');
  addLimits(command, 'turn')
    .addHelpText('after', HELP)
    .action((file: string, flags: TurnFlags) => execute((terminal) => turn(file, flags, terminal)));
}

/** Adds the flags that all commands with sessions share; `withSid` adds --sid for commands without an argument SID. */
export function addSession(command: Command, { withSid } = { withSid: true }): void {
  addModels(addSetup(command));
  if (withSid) command.option('--sid <ID>', 'session id (default: a new one)');
  command
    .option('--keys <FILE>', 'key file, see "neuroscript keys" (default: new keys for this session)')
    .option('--record <FILE>', RECORD_HELP)
    .option('--now <UNIX>', 'let the clock of tokens stand still at this Unix second', wholeNumber('--now', 0))
    .option('--ids <SEED>', 'derive session id, nonces and token ids from this text, to repeat a session exactly');
}

/** The clock and the ids that the flags choose. */
export function sourcesOf(flags: RepeatFlags): { readonly clock: Clock; readonly ids: Ids } {
  return {
    clock: flags.now === undefined ? systemClock : fixedClock(flags.now),
    ids: flags.ids === undefined ? randomIds : seededIds(flags.ids),
  };
}

async function turn(file: string, flags: TurnFlags, terminal: Terminal): Promise<ExitCode> {
  const { clock, ids } = sourcesOf(flags);
  const keyring = readKeyring(flags.keys, clock);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  const input = readTurn(await readBytes(file, ENVELOPE_BYTES, () => terminal.stdin));
  const bound = await readBound(flags.bound);
  const recorder = await Recorder.open(flags.record);
  const sid = flags.sid ?? ids.session();
  const { ask, stores } = await readModels(flags, () => ({ keyring, clock, ids }));
  await using runtime = await createRuntime({ ...setup, limits: limitsOf({ ...flags }), concurrency: 1, ask });
  const { record } = await runTurn(
    {
      executor: runtimeExecutor(runtime, runtime.interpreter({ stores })),
      keyring,
      clock,
      ids: flags.nonce === undefined ? ids : withNonce(ids, flags.nonce),
      replay: new ReplayCache({ clock }),
    },
    { sid, turn: flags.turn, input, progress: NO_PROGRESS_YET, signal: terminal.interrupt, ...bound },
  );
  if (flags.json) terminal.out.json(toPublicTurn(record));
  else for (const line of explainTurn(withAdvice(record), terminal.paintOut)) terminal.out.line(line);
  recorder?.add(record.journal);
  await recorder?.save(setup.tools, terminal);
  return exitOfDecision(record.decision, record.reason);
}
