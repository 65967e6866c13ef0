import type { Command } from 'commander';
import { nearestName } from '../../../grammar/vocabulary/spelling.ts';
import { createHostContext, SILENT_LOGGER } from '../../context/index.ts';
import type { AskHandlerOptions } from '../../loop/index.ts';
import { printable, printableLines, renderCall } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import type { Grant } from '../../tools/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import type { Probe } from '../../wire/heat.ts';
import { limitOf } from '../../wire/limits.ts';
import type { EventInput, OutFrame, Source } from '../../wire/protocol.ts';
import { type RunResult, resultText, toPublicResult } from '../../wire/result.ts';
import { BOUND, readBound } from '../flags/bound.ts';
import { addGiven, type Given, type GivenFlags, givenBy, type Pair, refuseStrayArguments } from '../flags/given.ts';
import { addModels, MODELS_HELP, type ModelFlags, type Models, readModels } from '../flags/models.ts';
import { addLimits, limitsOf, wholeNumber } from '../flags/options.ts';
import { RECORD_HELP, Recorder } from '../flags/record.ts';
import type { RepeatFlags } from '../flags/session.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { addHeat, type HeatFlags, probeOf, writeHeat } from '../heat/output.ts';
import { EXIT, type ExitCode, exitOf } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readSources, STDIN } from '../terminal/input.ts';
import { oneLine } from '../terminal/output.ts';
import { showEnd, showSaid } from '../terminal/result.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { check } from './check.ts';
import { answerRequests } from './jsonl.ts';

interface RunFlags extends SetupFlags, ModelFlags, GivenFlags {
  readonly bound?: string;
  readonly now?: number;
  readonly ids?: string;
  readonly json?: true;
  readonly jsonl?: true;
  readonly trace?: true;
  readonly checkFirst?: true;
  readonly check?: true;
}

/** Requests at work at once: the maximum number of workers, which all may wait for slow tools. */
const JSONL_WIDTH = 16;

const HELP = `
All files share one sandbox: first the definitions of all of them, then their
command blocks in order, then --call, then each --event. Emits go to standard
output as they happen; whispers (as [target] text) and errors go to standard
error. A program that reads with promptuser gets standard input.
${MODELS_HELP}
Examples:
  neuroscript run lib.ns main.ns --tools mocks.yaml --trace
  neuroscript run lib.ns --call add --arg 1 --arg '"text"' --json
  neuroscript run job.ns --heat heat.html --trace-out job.speedscope.json
  neuroscript run job.ns --global limit=10 --event 'tick={"n":1}'
  printf '{"id":1,"src":"command\\\\nemit 1\\\\nendcommand"}\\n' |
    neuroscript run --jsonl
`;

/** `run FILE…`, `run -`, `run --jsonl`. */
export function addRun(program: Command, execute: Execute): void {
  const command = program
    .command('run')
    .summary('run programs')
    .description('Runs NeuroScript programs in a sandbox.')
    .argument('[FILE...]', "program files; '-' is standard input");
  addGiven(command)
    .option('--now <UNIX>', 'the time of --event, which handlers get as TS (default: now)', wholeNumber('--now', 0))
    .option('--ids <SEED>', 'derive the ids of --event from this text, to repeat a run exactly')
    .option('--check', "find mistakes as 'check' does, with these files, tools, policy and globals; run nothing")
    .option('--check-first', 'execute nothing if the policy denies any call in the programs')
    .option(...BOUND)
    .option('--record <FILE>', RECORD_HELP)
    .option('--trace', 'show every tool call with arguments, result, time and fork; with --json, add the journal')
    .option('--json', 'print one result object at the end')
    .option('--jsonl', 'read one request object a line from standard input, print one result object a line');
  addModels(addSetup(addHeat(command)));
  addLimits(command, 'run').addHelpText('after', HELP).action(execute(run));
}

async function run(files: readonly string[], flags: RunFlags & HeatFlags, terminal: Terminal): Promise<ExitCode> {
  refuseContradictions(files, flags);
  if (flags.check) return await check(files, { ...flags, global: Object.keys((await givenBy(flags)).globals) }, terminal);
  const limits = limitsOf(flags);
  const probe = probeOf(flags);
  if (probe !== null && flags.jsonl)
    throw new UsageError('--trace-out and --heat cannot be combined with --jsonl, which makes many runs');
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  if (flags.jsonl) {
    await using runtime = await createRuntime({ ...setup, limits });
    return await answerRequests(runtime, { width: JSONL_WIDTH, journal: flags.trace === true }, terminal);
  }
  const sources = await readSources(files, limits.sourceBytes ?? limitOf('sourceBytes').default, () => terminal.stdin);
  if (sources.every(({ text }) => text.trim() === '') && flags.call === undefined && flags.event === undefined)
    terminal.err.text(`neuroscript: ${files.join(', ')}: no program found; nothing was run\n`);
  const given = { ...(await givenBy(flags)), ...(await readBound(flags.bound)) };
  const recorder = await Recorder.open(flags.record);
  const { ask, stores } = await readModels(flags, () => askOptionsOf(flags));
  await using runtime = await createRuntime({ ...setup, limits, concurrency: 1, ask });
  const result = await perform(runtime, stores, sources, given, flags, terminal, probe);
  if (!(terminal.out.closed.aborted && result.error?.kind === 'cancelled'))
    report(await advised(result, runtime, sources, flags, terminal), sources, flags, terminal);
  recorder?.add(result.journal);
  if (['request', 'parse', 'load'].includes(result.phase)) await recorder?.discard(terminal);
  else await recorder?.save(setup.tools, terminal);
  if (result.ok && flags.event !== undefined) await noteStrayEvents(runtime, sources, given.globals, flags.event, terminal);
  const { profile, phase } = result;
  if (probe !== null && (profile === undefined || ['request', 'parse'].includes(phase)))
    terminal.err.prose('nothing was executed, so no trace and no heat are written');
  else if (profile !== undefined)
    await writeHeat(flags, { profile, journal: result.journal, sources, title: files.join(', ') }, terminal);
  if (result.warnings !== undefined) return EXIT.usage;
  return result.error === null && result.eventErrors.length > 0 ? EXIT.runtime : exitOf(result.error);
}

function refuseContradictions(files: readonly string[], flags: RunFlags): void {
  if (flags.jsonl) {
    if (files.length > 0) throw new UsageError('--jsonl reads its programs from standard input and takes no FILE');
    for (const [flag, name] of PER_REQUEST)
      if (flags[flag] !== undefined) throw new UsageError(`--${name} cannot be combined with --jsonl: each request says it`);
    if (flags.models !== undefined)
      throw new UsageError('--models cannot be combined with --jsonl: its programs cannot ask a model');
    if (flags.record !== undefined || flags.check || flags.checkFirst || flags.bound !== undefined)
      throw new UsageError('--record, --check, --check-first and --bound cannot be combined with --jsonl, which makes many runs');
  } else if (files.length === 0) {
    throw new UsageError("run needs a FILE, or '-' for standard input");
  }
  refuseStrayArguments(flags);
}

/** Flags that every request of --jsonl has for itself, with their names. */
const PER_REQUEST = [
  ['json', 'json'],
  ['call', 'call'],
  ['arg', 'arg'],
  ['argFile', 'arg-file'],
  ['global', 'global'],
  ['globalFile', 'global-file'],
  ['event', 'event'],
  ['now', 'now'],
  ['ids', 'ids'],
] as const;

/** The session of runs with --storage: its tools keep values for each session. */
const SESSION = 'run';

/** What signs and names the sessions of `ask`. Loaded only where a program can ask. */
async function askOptionsOf(flags: RepeatFlags): Promise<AskHandlerOptions> {
  const [{ readKeyring }, { sourcesOf }] = await Promise.all([import('./keys.ts'), import('../flags/session.ts')]);
  const { clock, ids } = sourcesOf(flags);
  return { keyring: readKeyring(undefined, clock), clock, ids };
}

async function eventsOf(pairs: readonly Pair[], flags: RepeatFlags): Promise<EventInput[]> {
  const { sourcesOf } = await import('../flags/session.ts');
  const { clock, ids } = sourcesOf(flags);
  return pairs.map(({ name, value }) => ({ name, source: 'cli', payload: value, id: ids.session(), ts: clock.now() * 1e6 }));
}

async function perform(
  runtime: Runtime,
  stores: Models['stores'],
  sources: readonly Source[],
  { args, globals, bound }: Given & { readonly bound?: Grant },
  flags: RunFlags,
  terminal: Terminal,
  probe: Probe | null,
): Promise<RunResult> {
  const readsProgram = sources.some((source) => source.name === STDIN);
  const host = createHostContext({
    logger: SILENT_LOGGER,
    // The first question opens standard input, so that a program without questions does not wait for a terminal.
    ...(readsProgram ? {} : { stdin: { [Symbol.asyncIterator]: () => terminal.stdin[Symbol.asyncIterator]() } }),
    // Standard output has the emits alone; a question there would end up in their file.
    stdout: { write: (text) => terminal.err.text(printableLines(text)) },
  });
  const live = flags.json !== true;
  const events = flags.event === undefined ? [] : await eventsOf(flags.event, flags);
  using turn = flags.storage === undefined ? null : runtime.turn({ sessionId: SESSION });
  return await runtime
    .interpreter({ host, stores })
    .fork(turn === null ? {} : { turn })
    .runRequest({
      sources,
      ...(probe === null ? {} : { probe }),
      globals,
      events,
      signal: terminal.interrupt,
      checkFirst: flags.checkFirst ?? false,
      markedKeys: true,
      bound,
      call: flags.call === undefined ? undefined : { name: flags.call, args },
      ...(live ? { onOut: (out: OutFrame) => showSaid(out, terminal) } : {}),
      ...(live && flags.trace ? { onCall: (entry) => terminal.err.prose(renderCall(entry, terminal.paintErr)) } : {}),
    });
}

/** Adds the procedure that a misspelt --call means, and says on standard error what did nothing at all. */
async function advised(
  result: RunResult,
  runtime: Runtime,
  sources: readonly Source[],
  { call }: RunFlags,
  { err }: Terminal,
): Promise<RunResult> {
  const ranNothing = result.warnings !== undefined;
  const unknown = call !== undefined && result.phase === 'call' && !result.ok && result.error.code === 'NS2';
  if (!ranNothing && !unknown) return result;
  const { files } = await runtime.parse(sources);
  const procedures = files.flatMap((file) => file.procedures);
  const meant = unknown ? nearestName(call, procedures) : undefined;
  if (meant !== undefined && !result.ok) return { ...result, error: result.error.with({ hint: `did you mean '${meant}'?` }) };
  if (!ranNothing) return result;
  const handlers = files.reduce((sum, file) => sum + file.events, 0);
  const ways = [
    procedures[0] === undefined ? [] : [`run a procedure with --call ${procedures[0]}`],
    handlers === 0 ? [] : ['give --event NAME'],
  ].flat();
  if (ways.length > 0 && files.every(({ commandBlocks }) => commandBlocks === 0))
    err.prose(
      `neuroscript: nothing was run: the files have no command block; ${ways.join(', or ')}; --check only looks for mistakes`,
    );
  return result;
}

/** Says on standard error which events no handler takes. */
async function noteStrayEvents(
  runtime: Runtime,
  sources: readonly Source[],
  globals: Given['globals'],
  events: NonNullable<GivenFlags['event']>,
  { err }: Terminal,
): Promise<void> {
  const { files } = await runtime.parse(sources);
  const handling = sources.filter(({ name }) => files.some((file) => file.name === name && file.events > 0));
  if (handling.length === 0) return err.prose('neuroscript: no file has an event handler, so --event did nothing');
  // Only the worker knows the names that handlers take. An event without a handler adds nothing to what it foresees.
  const mostFuel = async (names: readonly string[]): Promise<number | null> => {
    const given = names.map((name) => ({ name, source: 'cli', payload: null }));
    try {
      const { preview } = await runtime.interpreter().fork().foresee({ sources: handling, globals, events: given });
      return preview?.fuel.most ?? null;
    } catch (error) {
      // The run itself ended well, and a note must not change that.
      if (error instanceof NeuroScriptError && ['ERR_TIMEOUT', 'ERR_WORKER'].includes(error.code)) return null;
      throw error;
    }
  };
  const without = await mostFuel([]);
  if (without === null) return;
  for (const name of new Set(events.map((event) => event.name)))
    if ((await mostFuel([name])) === without)
      err.prose(`neuroscript: no handler takes event '${printable(name)}', so it did nothing`);
}

function report(result: RunResult, sources: readonly Source[], flags: RunFlags, terminal: Terminal): void {
  if (flags.json) {
    terminal.out.line(oneLine(resultText(toPublicResult(null, result, flags.trace === true))));
    return;
  }
  showEnd(result, new Map(sources.map((source) => [source.name, source.text])), terminal);
}
