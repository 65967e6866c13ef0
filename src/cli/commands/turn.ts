import type { Command } from 'commander';
import { NO_PROGRESS_YET, ReplayCache } from '../../aeiou/index.ts';
import { readTurn, runTurn, runtimeExecutor, toPublicTurn, withNonce } from '../../loop/index.ts';
import { explainTurn } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { BOUND, readBound } from '../flags/bound.ts';
import { type ModelFlags, readModels } from '../flags/models.ts';
import { addLimits, limitsOf, wholeNumber } from '../flags/options.ts';
import { Recorder } from '../flags/record.ts';
import { addSession, type RepeatFlags, sourcesOf } from '../flags/session.ts';
import { readSetup, type SetupFlags } from '../flags/setup.ts';
import { type ExitCode, exitOfDecision } from '../terminal/exit.ts';
import { readBytes } from '../terminal/input.ts';
import { withAdvice } from '../terminal/result.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

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
  addLimits(command, 'turn').addHelpText('after', HELP).action(execute(turn));
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
  await using runtime = await createRuntime({ ...setup, limits: limitsOf(flags), concurrency: 1, ask });
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
  else for (const line of explainTurn(withAdvice(record), terminal.paintOut)) terminal.out.prose(line);
  recorder?.add(record.journal);
  await recorder?.save(setup.tools, terminal);
  return exitOfDecision(record.decision, record.reason);
}
