import type { Command } from 'commander';
import {
  type ChangedVerdict,
  changedVerdicts,
  MAGIC_TOOL,
  type RecordedVerdict,
  readSession,
  recordedVerdicts,
  suggestPolicy,
  unknownTools,
} from '../../loop/index.ts';
import { counted, printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import {
  type Breach,
  type CallQuestion,
  canonicalName,
  checkArguments,
  decideCall,
  explainPolicy,
  type PolicyVerdict,
  type ToolDefinition,
  ToolError,
  type ToolOrigin,
  toolOrigin,
} from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { knownOf } from '../../wire/foreseen.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { parseValue } from '../flags/options.ts';
import { addServers } from '../flags/servers.ts';
import { readSetup, type SetupFlags } from '../flags/setup.ts';
import { openStore, STORE_PLACE, sessionIds } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usably } from './drive.ts';

interface PolicyFlags extends Pick<SetupFlags, 'tools' | 'mcp'> {
  readonly json?: true;
}

interface TestFlags extends PolicyFlags {
  readonly against?: string;
}

interface SuggestFlags extends PolicyFlags {
  readonly from?: string;
}

const TEST_DETAILS = `
A verdict is judged for each recorded call, and for each tool that a turn's
ACTIONS name: a turn begins only when all of them are allowed. Give --tools and
--mcp as the sessions had them: of other tools only the name is judged, not the
trust and the capabilities that they require.
Exits with 0 when no verdict changes, and with 1 when one does or a record
cannot be read.

Examples:
  neuroscript policy test policy.yaml --against jobs.db --tools tools.yaml
  neuroscript policy test policy.yaml --against postgres://db/jobs --json
`;

const EXPLAIN_DETAILS = `
Arguments, as JSON, are checked against the definition of the tool, and judged
by the rules of the policy about arguments. What its rules about order say
depends on the calls before this one, and what those about origin say on where
the values come from: 'flow' lists which labels they deny, ask for and give.
Exits with 0 when the call is allowed and its arguments fit, with 1 when they
do not fit, and with 4 when the policy denies the call.

Examples:
  neuroscript policy explain policy.yaml tool.memory.Get
  neuroscript policy explain policy.yaml tool.shop.Price '"tea"' \\
    --tools tools.yaml
`;

const SUGGEST_DETAILS = `
The policy names each tool that was allowed and grants what these tools require.
'when' has what the arguments of its calls have in common: one value, some that
came again, a pattern, a range. 'order' has what of its group was always called
before it, if there were three calls or more. It limits no calls. Give --tools
and --mcp as the sessions had them: of other tools only the names are known.

Examples:
  neuroscript policy suggest --from jobs.db --tools tools.yaml > policy.yaml
`;

/** `policy test|explain|suggest`. */
export function addPolicy(program: Command, execute: Execute): void {
  const policy = program
    .command('policy')
    .summary('try a policy against recorded sessions, explain it, suggest one')
    .description('Shows what a policy decides and why, without running a program or a tool.');
  const add = (name: string, description: string): Command => policy.command(name).description(description);
  const finish = (command: Command, details: string): Command =>
    addServers(command.option('--tools <FILE>', 'the definitions of tools: mocks in YAML or JSON, or a module (.ts, .js)'))
      .option('--json', 'print one JSON object')
      .addHelpText('after', details);
  const store = (use: string): string => `${use}: a file, or postgres://… (default: ${STORE_PLACE})`;
  finish(
    add('test', 'Judges the calls of recorded sessions again under another policy, and lists the verdicts that change.')
      .argument('<POLICY>', 'policy file (YAML)')
      .option('--against <STORE>', store('the store of the sessions')),
    TEST_DETAILS,
  ).action(execute(usably(test)));
  finish(
    add('explain', 'Tells which rule of a policy decides a call, and why.')
      .argument('<POLICY>', 'policy file (YAML)')
      .argument('<TOOL>', 'the name of a tool')
      .argument('[ARGS...]', 'arguments of the call, each as JSON'),
    EXPLAIN_DETAILS,
  ).action(execute(explain));
  finish(
    add('suggest', 'Writes the smallest policy that allows what recorded sessions used.').option(
      '--from <STORE>',
      store('the store of the sessions'),
    ),
    SUGGEST_DETAILS,
  ).action(execute(usably(suggest)));
}

async function test(policyFile: string, flags: TestFlags, terminal: Terminal): Promise<ExitCode> {
  await using resources = new AsyncDisposableStack();
  const { tools, policy } = await readSetup({ ...flags, policy: policyFile }, resources);
  const { verdicts, sessions, lost } = await pastOf(flags.against, tools, terminal);
  const changed = changedVerdicts(verdicts, policy);
  const unknown = unknownTools(verdicts);
  const ok = changed.length === 0 && lost.length === 0;
  if (flags.json) terminal.out.json({ ok, sessions, verdicts: verdicts.length, changed, unknown, lost });
  else {
    for (const change of changed) for (const line of changeLines(change)) terminal.out.prose(line);
    terminal.out.prose(`${counted(sessions, 'session')}, ${counted(verdicts.length, 'verdict')}: ${changed.length} changed`);
    warn(unknown, lost, terminal);
  }
  return ok ? EXIT.ok : EXIT.runtime;
}

async function explain(
  policyFile: string,
  name: string,
  words: readonly string[],
  flags: PolicyFlags,
  { out }: Terminal,
): Promise<ExitCode> {
  await using resources = new AsyncDisposableStack();
  const { tools, policy } = await readSetup({ ...flags, policy: policyFile }, resources);
  const tool = canonicalName(name);
  const found = tools.find((each) => each.canonicalName === tool);
  const own = tool === MAGIC_TOOL;
  const byName = explainPolicy(policy, found ?? { canonicalName: tool, requiresTrust: false, capabilities: [] }, own);
  const args = found === undefined || words.length === 0 ? null : await problemOf(found, words);
  const known = own || found !== undefined;
  const breaches = found === undefined || !byName.allowed ? [] : decideCall(policy, questionOf(found, words, tools));
  const broken = breaches.find(({ sure, outcome }) => sure && outcome === 'refuse');
  const said = broken === undefined ? byName : { ...byName, ...decidedBy(broken) };
  const origin = policy === null ? null : toolOrigin(policy, found ?? { canonicalName: tool, capabilities: [] }, isToolOf(tools));
  if (flags.json) out.json({ ...said, known, arguments: args, breaches, origin });
  else {
    out.prose(printable(`${tool}: ${wordsOf(said)}`));
    for (const { rule, passes, reason } of said.steps)
      out.prose(printable(`  ${rule.padEnd(8)} ${passes ? 'passes' : 'DENIES'}  ${reason}`));
    for (const { rule, outcome, sure, reason, instead } of breaches) {
      const word = { refuse: sure ? 'DENIES' : 'may deny', ask: sure ? 'ASKS' : 'may ask' }[outcome];
      out.prose(printable(`  ${rule.padEnd(8)} ${word}  ${reason} (${instead})`));
    }
    for (const line of originLines(origin)) out.prose(printable(`  flow     ${line}`));
    if (said.maxCalls !== null) out.prose(`  at most ${counted(said.maxCalls, 'call')} (toolMaxCalls)`);
    if (!known) out.prose('  the definition is not known, so only the name is judged; give --tools FILE');
    if (args !== null) out.prose(printable(`  arguments: ${args.ok ? 'they fit' : args.problem}`));
  }
  if (!said.allowed) return EXIT.policy;
  return args?.ok === false ? EXIT.runtime : EXIT.ok;
}

async function suggest(flags: SuggestFlags, terminal: Terminal): Promise<ExitCode> {
  await using resources = new AsyncDisposableStack();
  const { tools } = await readSetup(flags, resources);
  const { verdicts, lost } = await pastOf(flags.from, tools, terminal);
  const { policy, unknown } = suggestPolicy(verdicts);
  if (flags.json) terminal.out.json({ policy, unknown, lost });
  else {
    for (const line of policyLines(policy)) terminal.out.line(line);
    warn(unknown, lost, terminal);
  }
  return lost.length === 0 ? EXIT.ok : EXIT.runtime;
}

/** A policy as a policy file. Texts in JSON are YAML too; they quote whatever a record may hold. */
export function policyLines(policy: object): readonly string[] {
  return Object.entries(policy).flatMap(([key, value]: [string, unknown]) => {
    if (key !== 'when' || typeof value !== 'object' || value === null) return entryLines(key, value);
    return [
      `${key}:`,
      ...Object.entries(value).flatMap(([tool, rows]) => entryLines(JSON.stringify(tool), rows).map((line) => `  ${line}`)),
    ];
  });
}

function entryLines(key: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [`${key}: ${JSON.stringify(value)}`];
  return value.length === 0 ? [`${key}: []`] : [`${key}:`, ...value.map((each) => `  - ${JSON.stringify(each)}`)];
}

interface Past {
  readonly verdicts: readonly RecordedVerdict[];
  readonly sessions: number;
  /** Records that cannot be read, or whose content was erased. */
  readonly lost: readonly Lost[];
}

interface Lost {
  readonly sid: string;
  readonly turn: number;
  readonly problem: string;
}

async function pastOf(flag: string | undefined, tools: readonly ToolDefinition[], terminal: Terminal): Promise<Past> {
  await using store = await openStore(flag, { mustExist: true });
  await using runtime = await createRuntime({ tools, policy: {}, concurrency: 1 });
  using steps = new Steps(terminal, 'policy');
  const sids = await sessionIds(store);
  const verdicts: RecordedVerdict[] = [];
  const lost: Lost[] = [];
  for (const [index, sid] of sids.entries()) {
    terminal.interrupt.throwIfAborted();
    steps.reached(index, sids.length);
    const session = await readSession(store, sid);
    const called = new Set<string>();
    for (const [turn, problem] of session.damaged ?? []) lost.push({ sid, turn, problem });
    for (const record of session.turns) {
      const { turn, erased } = record;
      if (erased !== undefined) lost.push({ sid, turn, problem: `the content of turn ${turn} was erased` });
      try {
        for (const verdict of await recordedVerdicts(runtime, { sid, turns: [record] }, called)) verdicts.push(verdict);
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        lost.push({ sid, turn, problem: error.message });
      }
    }
  }
  return { verdicts, sessions: sids.length, lost };
}

function decidedBy({ rule, entry, reason }: Breach): Omit<PolicyVerdict, 'tool'> {
  return { allowed: false, rule, entry, reason };
}

/** A call with these arguments, none of which is known without words, after calls that are not known. */
function questionOf(tool: ToolDefinition, words: readonly string[], tools: readonly ToolDefinition[]): CallQuestion {
  return {
    tool,
    args: words.length === 0 && tool.parameters.length > 0 ? null : words.map(taggedOf).map(knownOf),
    before: { called: () => null },
    labels: null,
    isTool: isToolOf(tools),
  };
}

function isToolOf(tools: readonly ToolDefinition[]): (name: string) => boolean {
  return (name) => tools.some(({ canonicalName: other }) => other === name);
}

/** What rules about origin say of a tool, in words. */
function originLines(origin: ToolOrigin | null): readonly string[] {
  if (origin === null) return [];
  const { gives, byServer, endorses, sinks } = origin;
  const lines = sinks.flatMap(({ entry, argument, refuse, ask, deciding }) => {
    const what = `${argument === null ? 'every argument' : `the argument '${argument}'`}${deciding ? ', and what decides on the call,' : ''}`;
    return [
      ...(refuse.length === 0 ? [] : [`DENIES  ${what} with ${refuse.join(', ')} (${entry})`]),
      ...(ask.length === 0 ? [] : [`ASKS    ${what} with ${ask.join(', ')} (${entry})`]),
    ];
  });
  return [
    ...lines,
    ...(gives.length === 0 ? [] : [`gives   its results ${gives.join(', ')}${byServer ? ', as its server says' : ''}`]),
    ...(endorses.length === 0 ? [] : [`takes   ${endorses.join(', ')} from its results`]),
  ];
}

/** Why the arguments of a call, as JSON, do not fit its tool. */
async function problemOf(
  tool: ToolDefinition,
  words: readonly string[],
): Promise<{ readonly ok: boolean; readonly problem: string | null }> {
  try {
    await checkArguments(tool, words.map(taggedOf));
    return { ok: true, problem: null };
  } catch (error) {
    if (error instanceof ToolError) return { ok: false, problem: error.message };
    throw error;
  }
}

function taggedOf(word: string): TaggedJson {
  return parseValue(`argument ${printable(word.slice(0, 100))}`, word);
}

function changeLines({ sid, turn, attempt, call, tool, before, after }: ChangedVerdict): readonly string[] {
  const where = call === null ? 'ACTIONS' : `call ${call}`;
  const place = attempt === undefined ? where : `attempt ${attempt}  ${where}`;
  return [
    printable(`${sid}  turn ${turn}  ${place}  ${tool}`),
    printable(`  before  ${wordsOf(before)}`),
    printable(`  after   ${wordsOf(after)}`),
  ];
}

function wordsOf({ allowed, rule, reason }: PolicyVerdict): string {
  return `${allowed ? 'allowed' : 'denied'} by ${rule}: ${reason}`;
}

function warn(unknown: readonly string[], lost: readonly Lost[], { err }: Terminal): void {
  if (unknown.length > 0)
    err.prose(printable(`neuroscript: only the names of these tools are known; give --tools or --mcp: ${unknown.join(', ')}`));
  for (const { sid, problem } of lost) err.prose(printable(`neuroscript: ${sid}: ${problem}`));
}
