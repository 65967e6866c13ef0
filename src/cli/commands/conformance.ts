import { type Command, Option } from 'commander';
import { splitLines } from '../../files/lines.ts';
import { clip, printable } from '../../report/index.ts';
import { MAX_TIMER_MS } from '../../wire/options.ts';
import { KitError, type KitReport, runKit, type Verdict } from '../conformance/driver.ts';
import { LanguageRuns } from '../conformance/language.ts';
import { answerLine } from '../conformance/serve.ts';
import { readVectors, type Vector } from '../conformance/vectors.ts';
import { wholeNumber } from '../flags/options.ts';
import { PACKAGE } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface Flags {
  readonly impl?: string;
  readonly serve?: true;
  readonly suite: keyof typeof SUITES;
  readonly only?: string;
  readonly timeout: number;
  readonly json?: true;
}

const HELP = `
The shell starts the command. The command reads one JSON request per line from
its standard input and writes one JSON answer per line to its standard output.
conformance/*/README.md describes requests, answers and vector files. For
an operation that the implementation lacks, it may answer
{"id":…,"unsupported":true}; the report counts such answers, and they are no
failures.
Exits with 0 when every answer is as expected, with 1 when one is not, and with
2 when the command does not speak the protocol.

Examples:
  neuroscript conformance --impl 'python3 my_aeiou.py'
  neuroscript conformance --impl 'neuroscript conformance --serve'
  neuroscript conformance --suite language --impl ./my_neuroscript
`;

/** The folders of the vectors. */
const SUITES = { aeiou: new URL('conformance/aeiou/', PACKAGE), language: new URL('conformance/language/', PACKAGE) };
/** Maximum bytes of one request: an envelope of 1 MiB as base64 in JSON, and some room. */
const REQUEST_BYTES = 4 * 1024 * 1024;

/** `conformance --impl CMD`: runs the AEIOU v3 vectors against an implementation; `--serve` answers them with this one. */
export function addConformance(program: Command, execute: Execute): void {
  program
    .command('conformance')
    .summary('test an implementation of AEIOU v3 or of the language')
    .description(
      'Runs golden envelopes, tokens and decisions of AEIOU v3, or programs of the language, against any implementation.',
    )
    .option('--impl <CMD>', 'command line of the implementation')
    .option('--serve', 'act as the implementation: answer requests on standard input')
    .addOption(new Option('--suite <NAME>', 'which vectors').choices(Object.keys(SUITES)).default('aeiou'))
    .option('--only <TEXT>', 'run only vectors whose file or id contains this text')
    .option('--timeout <MS>', 'time limit of one answer in milliseconds', wholeNumber('--timeout', 1, MAX_TIMER_MS), 10_000)
    .option('--json', 'print the report as a JSON object')
    .addHelpText('after', HELP)
    .action((flags: Flags) => execute((terminal) => (flags.serve ? serve(flags, terminal) : conformance(flags, terminal))));
}

async function conformance(flags: Flags, terminal: Terminal): Promise<ExitCode> {
  if (flags.impl === undefined) throw new UsageError('say which implementation to test: --impl CMD');
  const vectors = readVectors(SUITES[flags.suite]).filter(({ file, id }) => `${file} ${id}`.includes(flags.only ?? ''));
  if (vectors.length === 0) throw new UsageError(`no vector has '${printable(flags.only ?? '')}' in its file or id`);
  const report = await run(vectors, flags.impl, flags.timeout, terminal);
  const failed = report.verdicts.filter(({ outcome }) => outcome === 'failed');
  if (flags.json) terminal.out.json(summary(report));
  else for (const line of render(report, terminal)) terminal.out.line(line);
  return failed.length === 0 ? EXIT.ok : EXIT.runtime;
}

async function run(vectors: readonly Vector[], command: string, answerMs: number, terminal: Terminal): Promise<KitReport> {
  using steps = new Steps(terminal, 'conformance');
  const reached = (done: number): void => steps.reached(done, vectors.length);
  try {
    return await runKit(vectors, { command, answerMs, signal: terminal.interrupt }, reached);
  } catch (error) {
    if (error instanceof KitError) throw new UsageError(printable(error.message), { cause: error });
    throw error;
  }
}

async function serve({ impl }: Flags, terminal: Terminal): Promise<ExitCode> {
  if (impl !== undefined) throw new UsageError('--impl and --serve are the two sides of the protocol; give one');
  await using language = new LanguageRuns();
  for await (const line of splitLines(terminal.stdin, REQUEST_BYTES)) {
    if (line === null) throw new UsageError('a request is longer than any of the kit');
    await terminal.out.lineWhenReady(await answerLine(line.toString('utf8'), language));
  }
  return EXIT.ok;
}

/** The public form of a report. */
function summary({ implementation, verdicts }: KitReport) {
  return {
    implementation,
    passed: count(verdicts, 'passed'),
    failed: count(verdicts, 'failed'),
    unsupported: count(verdicts, 'unsupported'),
    failures: verdicts.flatMap(({ vector: { file, id, about }, why }) => (why === null ? [] : [{ file, id, about, why }])),
  };
}

function render({ implementation, verdicts }: KitReport, { paintOut }: Terminal): string[] {
  const files = [...Map.groupBy(verdicts, ({ vector }) => vector.file)].map(([file, list]) => {
    const [passed, failed, left] = [count(list, 'passed'), count(list, 'failed'), count(list, 'unsupported')];
    const rest = [failed > 0 ? `${failed} failed` : '', left > 0 ? `${left} unsupported` : ''].filter((text) => text !== '');
    const line = `${file.padEnd(18)} ${String(passed).padStart(4)} of ${list.length} passed${rest.map((text) => `, ${text}`).join('')}`;
    return failed > 0 ? paintOut.red(line) : line;
  });
  const failures = verdicts.flatMap(({ vector: { file, id, about }, why }) =>
    why === null ? [] : [paintOut.bold(`${file} ${id}: ${about}`), `  ${clip(printable(why), 300)}`],
  );
  const total = `${count(verdicts, 'passed')} passed, ${count(verdicts, 'failed')} failed, ${count(verdicts, 'unsupported')} unsupported`;
  return [printable(implementation), '', ...failures, ...(failures.length === 0 ? [] : ['']), ...files, '', total];
}

function count(verdicts: readonly Verdict[], outcome: Verdict['outcome']): number {
  return verdicts.filter((verdict) => verdict.outcome === outcome).length;
}
