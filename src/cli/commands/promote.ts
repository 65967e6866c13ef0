import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { pureTools } from '../../../stdlib-tools/index.ts';
import { parseEnvelope } from '../../aeiou/index.ts';
import { firstWithProgram, recordProblem, type TurnRecord, visibleOutput } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import {
  apartFrom,
  type Grant,
  type GrantedCall,
  grantText,
  type LibraryEntry,
  loadMockTools,
  recordTools,
} from '../../tools/index.ts';
import { taggedFrom } from '../../wire/foreign.ts';
import type { Source } from '../../wire/protocol.ts';
import { librarySources, loadSource } from '../flags/library.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { foreseenOf, grantFor, type ProcedureCalls } from '../promote/grant.ts';
import { NotPromotable, type Promoted, procedureOf } from '../promote/procedure.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { folderToWrite, writeAllNew } from '../terminal/write.ts';
import { usably } from './drive.ts';

interface PromoteFlags extends SetupFlags {
  readonly store?: string;
  readonly library: string;
}

const HELP = `
Writes NAME.ns, a procedure that does what the program of the turn did;
NAME.test.ns, its test, with NAME.mocks.yaml, what the calls returned; and
NAME.grant.yaml, the grant that was approved, without what parameters decide.

Parameters are the parts of USERDATA that the program names (userdata.subject,
userdata.fields.KEY), and literal texts of three characters or more that are
equal to one of them in the USERDATA of the session.

Example:
  neuroscript sessions promote job-7:1 send_report --library lib \\
    --store jobs.db --tools tools.yaml
  neuroscript test lib/send_report.test.ns --tools lib/send_report.mocks.yaml
`;

/** `sessions promote SID:TURN NAME --library DIR`. `command` has the flags of the store already. */
export function addPromote(command: Command, execute: Execute): void {
  command
    .argument('<SID:TURN>', 'the turn, whose plan was approved')
    .argument('<NAME>', 'name of the procedure')
    .requiredOption('--library <DIR>', 'the folder of the procedure');
  addSetup(command)
    .addHelpText('after', HELP)
    .action(execute(usably(promote)));
}

async function promote(place: string, name: string, flags: PromoteFlags, terminal: Terminal): Promise<ExitCode> {
  const [, sid = '', number = ''] = /^(.+):([1-9]\d*)$/.exec(place) ?? [];
  if (sid === '') throw new UsageError(`name a turn as SID:TURN, such as job-7:1, not '${printable(place)}'`);
  if (!/^[a-z_]\w*$/i.test(name)) throw new UsageError(`'${printable(name)}' is not a name for a procedure`);
  await using resources = new AsyncDisposableStack();
  const { tools } = await readSetup(flags, resources);
  await using store = await openStore(flags.store, { mustExist: true });
  const record = (await store.turns(sid)).find(({ turn }) => turn === Number(number));
  if (record === undefined || recordProblem(record) !== null)
    throw new UsageError(`session ${printable(sid)} has no decided turn ${number} that can be read`);
  const grant = approvedGrant(record);
  const { actions, userdata } = parseEnvelope(new TextEncoder().encode(record.inputs.envelope));
  const bare = made(() => procedureOf(actions, JSON.parse(userdata), name));
  const promoted = { ...bare, text: `:: description: ${descriptionOf(grant)}\n\n${bare.text}` };
  const library = existsSync(flags.library) ? await librarySources(flags.library) : [];
  const file = (ending: string): string => join(flags.library, `${name}${ending}`);
  const mocks = recordTools(record.journal, tools).text;
  const { entries, calls, emits } = await mustRepeat(name, promoted, library, mocks, visibleOutput(record) ?? '');
  folderToWrite(flags.library);
  const files = {
    [file('.ns')]: promoted.text,
    [file('.test.ns')]: testOf(name, place, promoted, namedIn(promoted.text, library, entries), emits),
    [file('.mocks.yaml')]: mocks,
    [file('.grant.yaml')]: grantText(grantFor(`${name}.ns`, grant, actions, promoted, calls)),
  };
  await writeAllNew(files);
  for (const path of Object.keys(files)) terminal.out.line(printable(path));
  return EXIT.ok;
}

/**
 * Runs the procedure, beside those that the library has already, with the values and the answers of the session. Throws {@link UsageError}
 * when it does not say what the turn said, and for a name that the library has. Resolves with all procedures, and the calls and emits of this
 * one.
 */
async function mustRepeat(
  name: string,
  { text, args }: Promoted,
  library: readonly Source[],
  mocks: string,
  said: string,
): Promise<{
  readonly entries: readonly LibraryEntry[];
  readonly calls: ProcedureCalls;
  readonly emits: readonly string[];
}> {
  const mocked = loadMockTools(mocks, `${name}.mocks.yaml`);
  // No record has the calls of pure tools: they are computed again.
  const tools = [...mocked, ...pureTools().filter((tool) => mocked.every((one) => one.canonicalName !== tool.canonicalName))];
  await using runtime = await createRuntime({ tools, policy: { allow: ['*'], grants: ['*:*:*'] }, concurrency: 1 });
  const call = { name, args: args.map(({ value }) => taggedFrom(value)) };
  const root = runtime.interpreter();
  for (const source of [...library, { name: `${name}.ns`, text }]) await loadSource(root, source);
  const result = await root.fork().runRequest({ call });
  const problem = result.error?.message ?? (result.emits.join('\n') === said ? null : 'it says something else');
  if (problem !== null) throw new UsageError(`the procedure does not do what the turn did: ${printable(problem)}`);
  return { entries: root.library, calls: await foreseenOf(root, call), emits: result.emits };
}

/** What the procedure does, in words: the tools that the approved grant has. A person may write something better. */
function descriptionOf({ calls }: Grant): string {
  const doing = new Map(calls.map(({ tool, effects }) => [tool, effects]));
  const tools = [...doing].map(
    ([tool, effects]) => `${tool} (${effects === undefined ? 'may change something' : EFFECTS[effects]})`,
  );
  return tools.length === 0 ? 'Calls no tool.' : `Calls ${tools.join(', ')}.`;
}

const EFFECTS = { none: 'no effect', read: 'reads', write: 'may change something' } as const;

/** The files of a library whose procedures a text names, also through one another. */
function namedIn(text: string, library: readonly Source[], entries: readonly LibraryEntry[]): readonly string[] {
  const words = new Set(text.split(/\W/g));
  const found = entries.filter(({ signatures }) => signatures.some((one) => words.has(one.slice(0, one.indexOf('(')))));
  const rest = entries.filter((entry) => !found.includes(entry));
  const texts = found.flatMap(({ name }) => library.find((source) => source.name === name)?.text ?? []);
  return [...found.map(({ name }) => name), ...texts.flatMap((one) => namedIn(one, library, rest))];
}

function made<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof NotPromotable) throw new UsageError(`the program cannot become a procedure: ${error.message}`);
    throw error;
  }
}

/** All that people approved for the program that decided the turn, and for those that it corrects. */
function approvedGrant({ sid, turn, plans = [], attempts = [], error, decision }: TurnRecord): Grant {
  const first = firstWithProgram(attempts);
  const granted = plans.flatMap(({ attempt, grant }) => (grant === null ? [] : [{ isOwn: attempt >= first, grant }]));
  const last = granted.at(-1)?.grant;
  if (last === undefined) throw new UsageError(`nobody approved the plan of turn ${turn} of session ${printable(sid)}`);
  if (error !== null || decision === 'HALT') throw new UsageError(`turn ${turn} of session ${printable(sid)} did not end well`);
  if (granted.length === 1 && granted[0]?.isOwn === true) return last;
  const all: GrantedCall[] = [];
  for (const { isOwn, grant } of granted) {
    const { calls } = apartFrom(grant, Math.max(0, ...all.map(({ number }) => number)));
    // The places of another program say nothing of this one.
    all.push(...(isOwn ? calls : calls.map(({ at: _, ...call }) => call)));
  }
  // Nor does the order of its calls, which a grant of this program replaces.
  const rules = granted.filter(({ isOwn }) => isOwn === granted.at(-1)?.isOwn).flatMap(({ grant }) => grant.order ?? []);
  const order = [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  return { ...last, calls: all, order };
}

/** A test that calls the procedure with the values of the session, and expects what the turn emitted, but for its tokens. */
function testOf(name: string, place: string, { args }: Promoted, called: readonly string[], emits: readonly string[]): string {
  return [
    `#: ${name} does what turn ${place} did`,
    ...[...new Set([`${name}.ns`, ...called])].map((file) => `#: file ${file}`),
    ...args.map((each) => `#: global ${each.name}=${JSON.stringify(each.value)}`),
    `call ${name}(${args.map((each) => each.name).join(', ')})`,
    ...emits.map((text) => `#=> ${text.replaceAll('\n', String.raw`\n`)}`),
    '',
  ].join('\n');
}
