import { type Command, Option } from 'commander';
import { parseStrict, UserdataError } from '../../aeiou/index.ts';
import { type Ceilings, type Durable, openSession, systemClock } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { readConfig } from '../config/read.ts';
import { profileIn } from '../config/settings.ts';
import { addCeilings, type CeilingFlags, ceilingsOf } from '../flags/ceilings.ts';
import { configText } from '../flags/configfile.ts';
import { named } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usable } from './drive.ts';

/** What a session is opened with. */
interface OpenFlags extends CeilingFlags {
  readonly store?: string;
  readonly sid?: string;
  readonly userdata?: string;
  readonly tenant?: string;
  readonly profile?: string;
  /** The configuration of the hosts, with the profile. */
  readonly config?: string;
  readonly durable?: Durable;
  readonly json?: true;
}

const HELP = `
The session waits in the store until a host claims it: "neuroscript serve", or
"neuroscript sessions resume". Its ceilings, and what the store keeps of its
turns (durable), are those of the configuration. The command prints the id of
the session.

Example:
  neuroscript sessions open job-7 --config serve.yaml --userdata job.json
`;

/** USERDATA of a session that was given none. */
const NO_USERDATA = { subject: 'session', fields: {} };

/** `sessions open`. `command` has the flags of the store already. */
export function addOpen(command: Command, execute: Execute): void {
  command
    .argument('[SID]', 'session id (default: a new one)')
    .option('--sid <ID>', 'the same, as a flag')
    .option('--userdata <FILE>', 'JSON file with the USERDATA of every envelope')
    .option('--tenant <ID>', 'whose session it is; hosts share their work between tenants')
    .option('--profile <NAME>', 'which profile of the hosts drives it (default: that of every host)')
    .option('--config <FILE>', 'the configuration of "neuroscript serve" with the profile, whose ceilings the session gets')
    .addOption(
      new Option('--durable <WHAT>', 'what is stored before the program goes on: each turn, or each call too (turn)').choices([
        'turn',
        'call',
      ]),
    )
    .option('--json', 'print a JSON object: sid');
  addCeilings(command, { drives: false });
  command
    .addHelpText('after', HELP)
    .action((sid: string | undefined, flags: OpenFlags) =>
      execute((terminal) => usable(() => open(withSid(sid, flags), terminal))),
    );
}

function withSid(sid: string | undefined, flags: OpenFlags): OpenFlags {
  if (sid === undefined) return flags;
  if (flags.sid !== undefined) throw new UsageError('give the id of the session once, as SID or with --sid');
  return { ...flags, sid };
}

/** Puts a session into the store, undriven. */
async function open(flags: OpenFlags, terminal: Terminal): Promise<ExitCode> {
  const { profile, ceilings, durable } = await kindOf(flags);
  const userdata = await userdataOf(flags.userdata);
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await openStore(flags.store, { mustExist: false }));
  const { tenant, sid } = flags;
  const opened = await withUserdata(flags.userdata, () =>
    openSession(store, userdata, {
      at: systemClock.now(),
      ceilings,
      sid,
      tenant,
      profile,
      durable,
    }),
  );
  if (flags.json) terminal.out.json({ sid: opened });
  else terminal.out.line(printable(opened));
  return EXIT.ok;
}

/** Turns an error about USERDATA into a {@link UsageError} that names its file. */
async function withUserdata<Result>(file: string | undefined, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (file === undefined || !(error instanceof UserdataError)) throw error;
    throw new UsageError(`${printable(file)}: ${error.message}`, { cause: error });
  }
}

interface Kind {
  readonly profile: string | undefined;
  readonly durable: Durable | undefined;
  readonly ceilings: Ceilings;
}

/** What a session is opened as. Flags take the place of what a configuration says. */
async function kindOf(flags: OpenFlags): Promise<Kind> {
  const { profile, durable } = flags;
  if (flags.config === undefined) return { profile, durable, ceilings: ceilingsOf(flags) };
  const config = await readConfig(flags.config);
  const found = profileIn(config, flags.config, profile);
  return {
    profile: profile ?? config.unnamed,
    durable: durable ?? found.durable,
    ceilings: ceilingsOf({ ...found.ceilings, ...flags }),
  };
}

/** USERDATA of a file; without one, of a session that was given none. */
export async function userdataOf(file: string | undefined): Promise<unknown> {
  if (file === undefined) return NO_USERDATA;
  const text = await configText(file);
  return named(file, () => parseStrict(text, { numbers: 'doubles', padding: true }));
}
