import type { Command } from 'commander';
import { generateKeys, keyringFrom } from '../../aeiou/index.ts';
import {
  type CallAnswer,
  type CompleteOptions,
  LoopController,
  PLAN,
  runtimeExecutor,
  type SessionStore,
  type SessionSummary,
  systemClock,
  type Waiting,
} from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { defined } from '../../wire/defined.ts';
import { messageOf } from '../../wire/unknown.ts';
import { addConfig, configured, configuredFor, type DriveFlags } from '../config/settings.ts';
import { addAgent, readAgent } from '../flags/agent.ts';
import { addApproval } from '../flags/approval.ts';
import { readGrant } from '../flags/bound.ts';
import { addLimits, parseValue } from '../flags/options.ts';
import { addWhere, matching, queryOf } from '../flags/query.ts';
import { addSession, LOG, STREAM } from '../flags/session.ts';
import { readSetup } from '../flags/setup.ts';
import { openStore, storeName } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { drive, usable } from './drive.ts';
import { readKeyring } from './keys.ts';

interface CompleteFlags extends DriveFlags {
  readonly store?: string;
  readonly call?: string;
  readonly where?: string;
  readonly answer?: string;
  readonly result?: string;
  readonly error?: string;
  readonly acceptChanged?: true;
  readonly grant?: string;
}

const HELP = `
A session waits when a tool answered "pending"; "sessions list" shows the call.
The answer must be of the type that the tool declares, so name the tools that
the session runs with. With --agent the session then continues, as with
"sessions resume". With --where, the calls of all sessions that match, and whose
tool a term tool: names, get the same answer; hosts go on with them.

A session under --approve plan waits with the call 'plan' for the approval of
its grant; 'sessions show' has it. It may be narrowed with --grant before it
is approved, and never after.

Example:
  neuroscript sessions complete job-7 plan true --store jobs.db --keys keys.json
  neuroscript sessions complete job-7 --call 2.1 --result true --store jobs.db \\
    --tools tools.yaml --agent script:agent.txt
  neuroscript sessions complete --where 'tool:human.approve tenant:acme' \\
    --answer true --store jobs.db --tools tools.yaml
`;

/** `sessions complete SID --call ID`: answers the call that a session waits for. `command` has the flags of the store already. */
export function addComplete(command: Command, execute: Execute): void {
  command
    .argument('[SID]', 'session id')
    .argument('[CALL]', "the call, as --call; 'plan' approves or refuses all calls of the turn's grant")
    .argument('[RESULT]', 'its result, as --result')
    .option('--call <ID>', 'the call, such as 2.1: turn 2, first call')
    .option('--result <JSON>', 'the result of the tool')
    .option('--answer <JSON>', 'with --where: the result of the tool, for every call')
    .option('--error <TEXT>', 'the tool fails with this message (code 21)')
    .option('--grant <FILE>', 'with the call plan: approve this narrower grant')
    .option('--accept-changed', 'complete the call even if the tool declares something else now')
    .option(...LOG)
    .option(...STREAM);
  addWhere(command, 'answer all waiting sessions of which this is true');
  addAgent(addConfig(command));
  addApproval(command);
  addSession(command, { withSid: false });
  command.option('--json', 'print JSON: the call, or with --agent the session');
  addLimits(command, 'turn')
    .addHelpText('after', HELP)
    .action(
      execute(
        (
          sid: string | undefined,
          call: string | undefined,
          result: string | undefined,
          flags: CompleteFlags,
          terminal: Terminal,
        ) => {
          const all = { ...flags, ...defined({ call: call ?? flags.call, result: result ?? flags.result }) };
          return all.where === undefined ? complete(sid, all, terminal) : completeAll(sid, all, terminal);
        },
      ),
    );
}

async function complete(sid: string | undefined, flags: CompleteFlags, terminal: Terminal): Promise<ExitCode> {
  const { call } = flags;
  if (sid === undefined || call === undefined)
    throw new UsageError('give the session and --call ID, or --where QUERY for the calls of all sessions that match');
  if (flags.answer !== undefined) throw new UsageError('--answer goes with --where; for one call, give --result JSON');
  const answer = answerOf(flags);
  if (flags.grant !== undefined && call !== PLAN) throw new UsageError(`--grant goes with the call ${PLAN}`);
  const settings = await usable(async () => configuredFor(sid, flags));
  if (call === PLAN) mustSign(settings);
  const grant = flags.grant === undefined ? undefined : await readGrant('--grant', flags.grant);
  const agent = flags.agent === undefined ? null : await readAgent(settings);
  const { waiting, isServed } = await usable(() =>
    answering(settings, async ({ controller, store }) => ({
      waiting: await controller.complete(sid, call, answer, { ...given(flags), ...defined({ grant }) }),
      isServed: (await store.hosts?.list())?.some(({ lives }) => lives) === true,
    })),
  );
  if (agent !== null) return drive(settings, agent, { resume: sid }, terminal);
  if (flags.json) terminal.out.json(waiting);
  else
    terminal.out.line(
      `${printable(sid)}: call ${waiting.call} of ${printable(waiting.tool)} is completed; ${nextStep(sid, waiting, isServed, flags)}`,
    );
  return EXIT.ok;
}

/** What to do next: answer the other calls that ran together with this one, or continue the session, unless hosts serve the store. */
function nextStep(sid: string, { also = [] }: Waiting, isServed: boolean, flags: CompleteFlags): string {
  const open = also.filter(({ completed }) => !completed).map(({ call, tool }) => `${call} of ${printable(tool)}`);
  if (open.length > 0) return `it still waits for call ${open.join(', ')}`;
  return isServed ? 'a host goes on with it' : `go on with: ${resumeCommand(sid, flags)}`;
}

/** The command to continue the session with; the user fills in the agent and the tools. */
function resumeCommand(sid: string, { store }: CompleteFlags): string {
  const where = store === undefined ? '' : ` --store ${storeName(store)}`;
  return `neuroscript sessions resume ${printable(sid)}${where} --agent AGENT`;
}

/** Answers the calls of all sessions that match. A call that cannot be answered is reported, and the others are. */
async function completeAll(sid: string | undefined, flags: CompleteFlags, terminal: Terminal): Promise<ExitCode> {
  const { where, answer: result, call, agent, json } = flags;
  if (sid !== undefined || call !== undefined || agent !== undefined || flags.result !== undefined)
    throw new UsageError('--where takes --answer JSON or --error TEXT, and neither a session, --call, --result nor --agent');
  const { error } = flags;
  const answer = answerOf({ ...(result !== undefined && { result }), ...(error !== undefined && { error }) });
  const query = queryOf({ ...(where !== undefined && { where }), status: 'waiting' });
  const tools = query.terms.flatMap(({ key, text }) => (key === 'tool' ? [text] : []));
  const isMeant = ({ completed, tool }: Waiting): boolean =>
    !completed && tools.every((text) => tool.toLowerCase().includes(text));
  const settings = await usable(() => configured(flags));
  const failed = await usable(() =>
    answering(settings, async ({ controller, store }) => {
      const sessions: SessionSummary[] = [];
      for await (const session of matching(store, query)) sessions.push(session);
      let problems = 0;
      let found = 0;
      for (const { sid: each, waits } of sessions)
        for (const { call: id, tool } of (waits === null ? [] : [waits, ...(waits.also ?? [])]).filter(isMeant)) {
          let problem: string | null = null;
          found += 1;
          try {
            if (id === PLAN) mustSign(settings);
            await controller.complete(each, id, answer, given(flags));
          } catch (error) {
            problem = messageOf(error);
            problems += 1;
          }
          if (json) terminal.out.json({ sid: each, call: id, tool, problem });
          else
            terminal.out.line(
              printable(`${each}: call ${id} of ${tool} ${problem === null ? 'is completed' : `is open: ${problem}`}`),
            );
        }
      if (found === 0) terminal.err.prose('neuroscript: no session that matches waits for a call');
      return problems;
    }),
  );
  return failed === 0 ? EXIT.ok : EXIT.runtime;
}

/** Throws {@link UsageError} where nothing could sign the answer to a plan in a way that another process knows. */
function mustSign({ keys }: Pick<DriveFlags, 'keys'>): void {
  if (keys === undefined)
    throw new UsageError('the answer to a plan is signed: give --keys FILE, the key file with which the session goes on');
}

function given({ acceptChanged }: CompleteFlags): CompleteOptions {
  return { acceptChanged: acceptChanged ?? false };
}

/** What answers calls: a controller on the store of the flags. */
interface Answering {
  readonly controller: LoopController;
  readonly store: SessionStore;
}

async function answering<Result>(flags: CompleteFlags, work: (answering: Answering) => Promise<Result>): Promise<Result> {
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  await using store = await openStore(flags.store, { mustExist: true });
  await using runtime = await createRuntime({ ...setup, concurrency: 1 });
  // Without a key file, nothing is signed.
  const keyring =
    flags.keys === undefined ? keyringFrom(generateKeys('none'), { clock: systemClock }) : readKeyring(flags.keys, systemClock);
  return await work({ controller: new LoopController({ executor: runtimeExecutor(runtime), keyring, store }), store });
}

/** Reads the one of --result and --error that is given. Throws {@link UsageError} for both, none, or an unusable one. */
function answerOf({ result, error }: Pick<CompleteFlags, 'result' | 'error'>): CallAnswer {
  if ((result === undefined) === (error === undefined))
    throw new UsageError('give exactly one of --result JSON and --error TEXT');
  if (result === undefined) return { error: { message: error ?? '' } };
  return { result: parseValue('--result', result) };
}
