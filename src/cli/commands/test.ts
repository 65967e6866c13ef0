import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command } from 'commander';
import { printable, renderError, type SourceTexts } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import type { RunResult } from '../../wire/result.ts';
import { readCases, type TestCase } from '../cases/read.ts';
import { addLimits, limitsOf } from '../flags/options.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { readSources, testFilesOf } from '../terminal/input.ts';
import { withNextStep } from '../terminal/result.ts';
import { Steps } from '../terminal/status.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { SOURCE_BYTES } from './check.ts';
import { addConformance } from './conformance.ts';

interface TestFlags extends SetupFlags {
  readonly watch?: true;
  readonly json?: true;
  readonly hostile?: true;
}

const DETAILS = `
A test file holds cases, which lines of '---' separate. A case is a program;
statements alone are a command block. Comments say what it needs and must do:

  #: TITLE                 the first line of a case
  #: file PATH             a program file that runs with it, from the test file
  #: global NAME=JSON      a variable
  #: event NAME=JSON       an event, delivered at the end
  #: limits {"fuel": 100}  limits that are tighter, as in a request of --jsonl
  #=> TEXT                 the text of an emit, in order; \\n is a line feed
  #!! CODE [LIMIT]         the error that ends it; after code: on that line
  #!event CODE             an error of an event handler

Every case runs in a fresh sandbox, with mock tools in their first state. Exits
with 1 when a case fails.

--hostile plays scenarios in place of cases: mock tools, a policy, programs that
keep to their task, and programs that do what an attacker wrote in a page, a
mail or a file. FILEs are scenarios; without one, those of this package are
played (docs/origin.md). Exits with 1 when an attack gets through, or does no
harm without the policy either and so proves nothing.
`;

/** `test [FILE…]`: runs the cases of test files. */
export function addTest(program: Command, execute: Execute): void {
  const command = program
    .command('test')
    .summary('run test files, or test another implementation')
    .enablePositionalOptions()
    .description('Runs the cases of test files, and compares what they emit and the errors that end them.')
    .argument('[FILE...]', 'test files, or folders with all *.test.ns below; by default this one')
    .option('--watch', 'run again whenever one of the files changes, until Ctrl-C')
    .option('--hostile', 'play scenarios with hijacked programs, and count what gets through their policies')
    .option('--json', 'print one JSON object with all cases');
  addConformance(command, execute);
  addLimits(addSetup(command), 'run')
    .addHelpText('after', DETAILS)
    .action(
      execute((files: string[], flags: TestFlags, terminal: Terminal) => {
        if (flags.hostile) return hostile(files, flags, terminal);
        return flags.watch ? watched(files, flags, terminal) : test(files, flags, terminal);
      }),
    );
}

async function hostile(files: readonly string[], flags: TestFlags, terminal: Terminal): Promise<ExitCode> {
  const other = (['watch', 'tools', 'mcp', 'policy', 'storage'] as const).find((name) => flags[name] !== undefined);
  if (other !== undefined) throw new UsageError(`--${other} cannot be combined with --hostile: a scenario has its own world`);
  const { testHostile } = await import('../hostile/command.ts');
  return testHostile(files, { json: flags.json, limits: limitsOf(flags) }, terminal);
}

async function test(named: readonly string[], flags: TestFlags, terminal: Terminal): Promise<ExitCode> {
  const cases = await casesOf(testFiles(named), terminal);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  await using runtime = await createRuntime({ ...setup, limits: limitsOf(flags), concurrency: 1 });
  let failed = 0;
  const results: object[] = [];
  using steps = new Steps(terminal, 'test');
  for (const [index, each] of cases.entries()) {
    steps.reached(index, cases.length);
    if (terminal.interrupt.aborted) return EXIT.cancelled;
    const problems = await problemsOf(runtime, each, terminal);
    if (problems.length > 0) failed += 1;
    steps.clear();
    const { file, line, title } = each;
    results.push({ file, line, title, ok: problems.length === 0, problems });
    if (!flags.json) report(each, problems, terminal);
  }
  if (flags.json) terminal.out.json({ passed: cases.length - failed, failed, cases: results });
  else terminal.out.line(`${cases.length - failed} passed, ${failed} failed`);
  return failed === 0 ? EXIT.ok : EXIT.runtime;
}

function testFiles(named: readonly string[]): readonly string[] {
  return testFilesOf(named.length > 0 ? named : ['.']);
}

async function casesOf(names: readonly string[], terminal: Terminal): Promise<TestCase[]> {
  const files = await readSources(names, SOURCE_BYTES, () => terminal.stdin);
  return files.flatMap(({ name, text }) => readCases(name, text));
}

/** Runs a case; what differs from its expectations, in lines. */
async function problemsOf(runtime: Runtime, each: TestCase, terminal: Terminal): Promise<string[]> {
  const { file, source, files, given } = each;
  const sources = [...(await readSources(files, SOURCE_BYTES, () => terminal.stdin)), { name: file, text: source }];
  const result = await runtime
    .interpreter()
    .fork()
    .runRequest({
      sources: sources.filter(({ text }) => text !== ''),
      ...given,
      signal: terminal.interrupt,
    });
  return differences(each, result, new Map(sources.map(({ name, text }) => [name, text])), terminal);
}

function differences({ file, expected }: TestCase, result: RunResult, texts: SourceTexts, terminal: Terminal): string[] {
  const problems: string[] = [];
  const emits = result.emits.map((text) => text.replaceAll('\n', '\\n'));
  for (let index = 0; index < Math.max(emits.length, expected.emits.length); index++) {
    const [got, wanted] = [emits[index], expected.emits[index]];
    if (got !== wanted) problems.push(`emit ${index + 1}: expected ${shown(wanted)}, got ${shown(got)}`);
  }
  const { error } = result;
  const { code = null, limit = null, line = null } = expected.error ?? {};
  const here = error?.source === file ? error.line : null;
  const same = (error?.code ?? null) === code && (limit === null || error?.limit === limit) && (line === null || here === line);
  if (!same) {
    const wanted = [code ?? 'no error', limit, line === null ? null : `on line ${line}`].filter((word) => word !== null);
    problems.push(`expected ${printable(wanted.join(' '))}, got ${error === null ? 'none' : ''}`.trimEnd());
    if (error !== null) problems.push(...renderError(withNextStep(error), texts, terminal.paintOut));
  }
  const handlers = result.eventErrors.map(({ error: { code: each } }) => each);
  if (handlers.join() !== expected.eventErrors.join())
    problems.push(
      `errors of handlers: expected ${printable(expected.eventErrors.join(', ')) || 'none'}, got ${handlers.join(', ') || 'none'}`,
    );
  return problems;
}

function shown(text: string | undefined): string {
  return text === undefined ? 'none' : printable(JSON.stringify(text));
}

function report({ file, line, title }: TestCase, problems: readonly string[], terminal: Terminal): void {
  const ok = problems.length === 0;
  const paint = terminal.paintOut;
  terminal.out.prose(`${ok ? paint.green('ok    ') : paint.red('FAILED')} ${printable(`${file}:${line} ${title}`)}`);
  for (const problem of problems) terminal.out.prose(`         ${problem}`);
}

/**
 * Runs the tests in a process of their own, because a module of tools is loaded once in a process, and again after every change
 * of a file that they read and of every other program in its folder. Ends with the interrupt.
 */
async function watched(named: readonly string[], flags: TestFlags, terminal: Terminal): Promise<ExitCode> {
  const args = process.argv.slice(1).filter((arg) => arg !== '--watch');
  while (!terminal.interrupt.aborted) {
    using round = new DisposableStack();
    const changed = Promise.withResolvers<void>();
    const done = () => changed.resolve();
    terminal.interrupt.addEventListener('abort', done, { once: true });
    round.defer(() => terminal.interrupt.removeEventListener('abort', done));
    const paths = await pathsOf(named, flags, terminal);
    for (const folder of new Set(paths.map((path) => dirname(path)))) {
      const watcher = watch(folder, (_, name) => {
        if (name !== null && (name.endsWith('.ns') || paths.includes(join(folder, name)))) done();
      });
      round.adopt(watcher.on('error', done), (each) => each.close());
    }
    await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'close');
    if (terminal.interrupt.aborted) break;
    terminal.err.prose('waiting for a change; Ctrl-C ends');
    await changed.promise;
  }
  return EXIT.ok;
}

/** The files that the tests read, as far as they can be read. */
async function pathsOf(named: readonly string[], flags: TestFlags, terminal: Terminal): Promise<string[]> {
  const setup = [flags.tools, flags.policy].filter((path) => path !== undefined);
  try {
    const names = testFiles(named);
    const cases = await casesOf(names, terminal);
    return [...setup, ...names, ...cases.flatMap(({ files }) => files)];
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return [...setup, ...named, join('.', 'any')];
  }
}
