import { type Command, Option } from 'commander';
import { parseStrict } from '../../aeiou/index.ts';
import { type Ceilings, type Durable, openSession, systemClock } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import type { PriceTable } from '../../wire/pricetable.ts';
import { addCeilings, type CeilingFlags, ceilingsOf } from '../flags/ceilings.ts';
import { configText } from '../flags/configfile.ts';
import { pricesOption } from '../flags/options.ts';
import { named } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usable } from './drive.ts';

/** What a session is opened with. */
export interface OpenFlags extends CeilingFlags {
  readonly store?: string;
  readonly sid?: string;
  readonly userdata?: string;
  readonly tenant?: string;
  readonly profile?: string;
  readonly durable?: Durable;
  readonly prices?: PriceTable;
  readonly json?: true;
}

const HELP = `
The session waits in the store until a host claims it: "neuroscript serve", or
"neuroscript sessions resume". It prints the id of the session.

Example:
  neuroscript sessions open --store sessions.db --userdata job.json
`;

/** USERDATA of a session that was given none. */
const NO_USERDATA = { subject: 'session', fields: {} };

/** The flag that says what the store keeps of a turn. */
export function durableOption(): Option {
  const help = 'what is stored before the program goes on: each turn, or each call too (turn)';
  return new Option('--durable <WHAT>', help).choices(['turn', 'call']);
}

/** `sessions open`. `command` has the flags of the store already. */
export function addOpen(command: Command, execute: Execute): void {
  command
    .option('--sid <ID>', 'session id (default: a new one)')
    .option('--userdata <FILE>', 'JSON file with the USERDATA of every envelope')
    .option('--tenant <ID>', 'whose session it is; hosts share their work between tenants')
    .option('--profile <NAME>', 'which profile of the hosts drives it (default: that of every host)')
    .addOption(durableOption())
    .addOption(pricesOption())
    .option('--json', 'print a JSON object: sid');
  addCeilings(command);
  command.addHelpText('after', HELP).action((flags: OpenFlags) => execute((terminal) => usable(() => open(flags, terminal))));
}

/** Puts a session into the store, undriven. */
export async function open(flags: OpenFlags, terminal: Terminal): Promise<ExitCode> {
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await openStore(flags.store, { mustExist: false }));
  const { tenant, profile, durable, sid, prices } = flags;
  const ceilings: Ceilings = ceilingsOf(flags);
  const opened = await openSession(store, await userdataOf(flags.userdata), {
    at: systemClock.now(),
    ceilings,
    ...(sid === undefined ? {} : { sid }),
    ...(tenant === undefined ? {} : { tenant }),
    ...(profile === undefined ? {} : { profile }),
    ...(durable === undefined ? {} : { durable }),
    ...(prices === undefined ? {} : { prices }),
  });
  if (flags.json) terminal.out.json({ sid: opened });
  else terminal.out.line(printable(opened));
  return EXIT.ok;
}

/** USERDATA of a file; without one, of a session that was given none. */
export async function userdataOf(file: string | undefined): Promise<unknown> {
  if (file === undefined) return NO_USERDATA;
  const text = await configText(file);
  return named(file, () => parseStrict(text, { numbers: 'doubles', padding: true }));
}
