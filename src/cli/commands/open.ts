import { type Command, Option } from 'commander';
import { z } from 'zod';
import { parseStrict, UserdataError } from '../../aeiou/index.ts';
import { type Line, splitLines } from '../../files/lines.ts';
import { type Admission, type Ceilings, type Durable, openSession, systemClock } from '../../loop/index.ts';
import { printable, quantity } from '../../report/index.ts';
import { BusyError, NeuroScriptError } from '../../wire/errors.ts';
import { isRecord, messageOf } from '../../wire/unknown.ts';
import { readConfig } from '../config/read.ts';
import { profileIn } from '../config/settings.ts';
import { addCeilings, type CeilingFlags, ceilingsOf } from '../flags/ceilings.ts';
import { named } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { failureLine, UsageError } from '../terminal/failure.ts';
import { inOrder } from '../terminal/inorder.ts';
import { readText, until } from '../terminal/input.ts';
import { oneLine } from '../terminal/output.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';

interface OpenFlags extends CeilingFlags {
  readonly store?: string;
  readonly sid?: string;
  readonly userdata?: string;
  readonly tenant?: string;
  readonly profile?: string;
  /** The configuration of the hosts, with the profile. */
  readonly config?: string;
  readonly durable?: Durable;
  readonly jsonl?: true;
  readonly json?: true;
}

const HELP = `
The session waits in the store until a host claims it: "neuroscript serve", or
"neuroscript sessions resume". Its ceilings, and what the store keeps of its
turns (durable), are those of the configuration. The command prints the id of
the session.

With --jsonl it opens many: each line of standard input is {"userdata": ...},
with "sid" and "tenant" if wanted, and is answered by a line with "sid" or
"error". As many as --config admits may be open; another one is refused with
ERR_BUSY and the time after which to try again.

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
    .option(...USERDATA_FLAG)
    .option('--tenant <ID>', 'whose session it is; hosts share their work between tenants')
    .option('--profile <NAME>', 'which profile of the hosts drives it (default: that of every host)')
    .option('--config <FILE>', 'the configuration of "neuroscript serve" with the profile, whose ceilings the session gets')
    .addOption(
      new Option('--durable <WHAT>', 'what is stored before the program goes on: each turn, or each call too (turn)').choices([
        'turn',
        'call',
      ]),
    )
    .option('--jsonl', 'open a session for each line of standard input')
    .option('--json', 'print a JSON object: sid');
  addCeilings(command, { drives: false });
  command.addHelpText('after', HELP).action(execute(usably(open)));
}

/** Puts a session into the store, undriven. */
async function open(id: string | undefined, flags: OpenFlags, terminal: Terminal): Promise<ExitCode> {
  if (id !== undefined && flags.sid !== undefined) throw new UsageError('give the id of the session once, as SID or with --sid');
  const { tenant, sid = id } = flags;
  const kind = await kindOf(flags);
  if (flags.jsonl && (sid !== undefined || flags.userdata !== undefined))
    throw new UsageError('--jsonl reads the ids and USERDATA of its sessions from standard input');
  const userdata = await userdataOf(flags.userdata, terminal);
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await openStore(flags.store, { mustExist: false }));
  const one: OpenOne = (data, own) => openSession(store, data, { at: systemClock.now(), ...kind, tenant, ...own });
  if (flags.jsonl) return await openLines(one, terminal);
  let opened: string;
  try {
    opened = await withUserdata(flags.userdata, () => one(userdata, { sid }));
  } catch (error) {
    if (!(error instanceof BusyError)) throw error;
    terminal.err.prose(failureLine(error));
    return EXIT.runtime;
  }
  if (flags.json) terminal.out.json({ sid: opened });
  else terminal.out.line(printable(opened));
  return EXIT.ok;
}

/** Turns an error about USERDATA into a {@link UsageError} that names its place. */
async function withUserdata<Result>(given: string | undefined, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (given === undefined || !(error instanceof UserdataError)) throw error;
    throw new UsageError(`${printable(nameOf(given))}: ${error.message}`, { cause: error });
  }
}

interface Kind {
  readonly admission: Admission | undefined;
  readonly profile: string | undefined;
  readonly durable: Durable | undefined;
  readonly ceilings: Ceilings;
}

/** What a session is opened as. Flags take the place of what a configuration says. */
async function kindOf(flags: OpenFlags): Promise<Kind> {
  const { profile, durable } = flags;
  if (flags.config === undefined) return { profile, durable, ceilings: ceilingsOf(flags), admission: undefined };
  const config = await readConfig(flags.config);
  const found = profileIn(config, flags.config, profile);
  return {
    admission: config.admission,
    profile: profile ?? config.unnamed,
    durable: durable ?? found.durable,
    ceilings: ceilingsOf({ ...found.ceilings, ...flags }),
  };
}

/** The flag of USERDATA, which every command that opens sessions has. */
export const USERDATA_FLAG = ['--userdata <JSON>', "USERDATA of every envelope: an object, a file with one, or '-'"] as const;

/** USERDATA of the flag: JSON when it begins with a brace, standard input for `-`, else a file. Without it, of a session that was given none. */
export async function userdataOf(given: string | undefined, { stdin }: Pick<Terminal, 'stdin'>): Promise<object> {
  if (given === undefined) return NO_USERDATA;
  const text = isJson(given) ? given : await readText(given, USERDATA_BYTES, () => stdin);
  const name = nameOf(given);
  const value = named(name, () => parseStrict(text, { numbers: 'doubles', padding: true }));
  if (!isRecord(value)) throw new UsageError(`${printable(name)}: USERDATA must be a JSON object`);
  return value;
}

const USERDATA_BYTES = 4 * 1024 * 1024;

function isJson(given: string): boolean {
  return given.trimStart().startsWith('{');
}

function nameOf(given: string): string {
  return isJson(given) ? '--userdata' : given;
}

/** Opens one session, and resolves with its id. */
type OpenOne = (userdata: unknown, own: { readonly sid?: string | undefined; readonly tenant?: string }) => Promise<string>;

const LINE_BYTES = 1024 * 1024;
/** Sessions that are opened at once; a store writes one at a time. */
const WIDTH = 4;

const SESSION = z.strictObject({ sid: z.string().exactOptional(), tenant: z.string().exactOptional(), userdata: z.unknown() });

/** What became of a line. */
type Answer =
  | { readonly sid: string }
  | {
      readonly error: { readonly code: string; readonly message: string; readonly line: number; readonly retryAfterMs?: number };
    };

/** Opens a session for each line of standard input, and answers the lines in their order. */
async function openLines(open: OpenOne, terminal: Terminal): Promise<ExitCode> {
  const { interrupt, out } = terminal;
  let count = 0;
  let failed = 0;
  const answer = async (line: Line): Promise<Answer> => {
    count += 1;
    const number = count;
    try {
      const { userdata, ...own } = read(line);
      return { sid: await open(userdata, own) };
    } catch (error) {
      failed += 1;
      const code = error instanceof NeuroScriptError ? error.code : UsageError.code;
      const retry = error instanceof BusyError && error.retryAfterMs !== undefined ? { retryAfterMs: error.retryAfterMs } : {};
      return { error: { code, message: messageOf(error), line: number, ...retry } };
    }
  };
  const lines = splitLines(until(interrupt, terminal.stdin), LINE_BYTES);
  await inOrder(lines, WIDTH, answer, (result) => out.lineWhenReady(oneLine(JSON.stringify(result))));
  if (interrupt.aborted) return EXIT.cancelled;
  return failed === 0 ? EXIT.ok : EXIT.runtime;
}

function read(line: Line): z.infer<typeof SESSION> {
  if (line === null) throw new UsageError(`the line is longer than ${quantity('bytes', LINE_BYTES)}`);
  const { data, error } = SESSION.safeParse(parseStrict(line, { numbers: 'doubles', padding: true }));
  if (error !== undefined) throw new UsageError('a line is {"userdata": ..., "sid"?: text, "tenant"?: text}');
  return data;
}
