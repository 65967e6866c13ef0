import { z } from 'zod';
import { splitLines } from '../../files/lines.ts';
import { clip, printable } from '../../report/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { PACKAGE } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { Steps } from '../terminal/status.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { KitError, type KitReport, runKit, type VectorResult } from './driver.ts';
import { LanguageRuns } from './language.ts';
import { perform } from './operations.ts';
import { KIT_FORMAT, readVectors, type Vector } from './vectors.ts';

export interface ConformanceFlags {
  readonly impl?: string;
  readonly serve?: true;
  readonly suite: keyof typeof SUITES;
  readonly only?: string;
  readonly timeout: number;
  readonly json?: true;
}

const SUITES = { aeiou: new URL('conformance/aeiou/', PACKAGE), language: new URL('conformance/language/', PACKAGE) };
/** Maximum bytes of one request: an envelope of 1 MiB as base64 in JSON, and some room. */
const REQUEST_BYTES = 4 * 1024 * 1024;

/** Runs vectors against an implementation, or answers them. */
export function testConformance(flags: ConformanceFlags, terminal: Terminal): Promise<ExitCode> {
  return flags.serve ? serve(flags, terminal) : conformance(flags, terminal);
}

async function conformance(flags: ConformanceFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.impl === undefined) throw new UsageError('needs --impl CMD, the implementation to test');
  const vectors = readVectors(SUITES[flags.suite]).filter(({ file, id }) => `${file} ${id}`.includes(flags.only ?? ''));
  if (vectors.length === 0) throw new UsageError(`no vector has '${printable(flags.only ?? '')}' in its file or id`);
  const report = await run(vectors, flags.impl, flags.timeout, terminal);
  const failed = report.verdicts.filter(({ outcome }) => outcome === 'failed');
  if (flags.json) terminal.out.json(summary(report));
  else for (const line of render(report, terminal)) terminal.out.line(line);
  return failed.length === 0 ? EXIT.ok : EXIT.runtime;
}

async function run(vectors: readonly Vector[], command: string, answerMs: number, terminal: Terminal): Promise<KitReport> {
  using steps = new Steps(terminal, 'test conformance');
  const reached = (done: number): void => steps.reached(done, vectors.length);
  try {
    return await runKit(vectors, { command, answerMs, signal: terminal.interrupt }, reached);
  } catch (error) {
    if (error instanceof KitError) throw new UsageError(printable(error.message), { cause: error });
    throw error;
  }
}

async function serve({ impl }: ConformanceFlags, terminal: Terminal): Promise<ExitCode> {
  if (impl !== undefined) throw new UsageError('--impl and --serve cannot be combined: they are the two sides of the protocol');
  await using language = new LanguageRuns();
  for await (const line of splitLines(terminal.stdin, REQUEST_BYTES)) {
    if (line === null) throw new UsageError('a request is longer than the longest of the kit');
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

function count(verdicts: readonly VectorResult[], outcome: VectorResult['outcome']): number {
  return verdicts.filter((verdict) => verdict.outcome === outcome).length;
}

const request = z.object({ id: z.number(), op: z.string(), input: z.unknown() });

/**
 * Serves this implementation over the protocol of the conformance kit: one line of answer for each line of request. Throws for a
 * malformed request.
 */
export async function answerLine(line: string, language: LanguageRuns): Promise<string> {
  const { id, op, input } = request.parse(JSON.parse(line));
  if (op === 'hello') return JSON.stringify({ id, ok: { format: KIT_FORMAT, implementation: `neuroscript-runtime ${VERSION}` } });
  const done = op === 'language.run' ? language.run(input) : perform(op, input);
  return JSON.stringify({ id, ...((await done) ?? { unsupported: true }) });
}
