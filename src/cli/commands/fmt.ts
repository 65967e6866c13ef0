import type { Command } from 'commander';
import { printable, renderDiagnostic, SYNTAX } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Source } from '../../wire/protocol.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { failureLine, UsageError } from '../terminal/failure.ts';
import { mustReadOnce, programsOf, readText, STDIN } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { mustRewrite, rewriteFile } from '../terminal/write.ts';

const DETAILS = `
The layout keeps comments, the forms of literals, and groups of lines;
everything else has one form. Formatting never changes what a program does. A
folder stands for every *.ns below it but *.test.ns, which hold cases.

The command formats what it can. A file with a syntax error stays as it is, and
the exit code is 3; one that cannot be read or written also stays, with 2.

With '-' it reads the program from standard input and writes it to standard
output. With --check it writes nothing: it lists the files that would change,
and exits with 1 when there is one.
`;

/** `fmt FILE…`: gives programs their canonical layout. */
export function addFmt(program: Command, execute: Execute): void {
  program
    .command('fmt')
    .summary('format programs')
    .description('Rewrites program files in their canonical layout and lists those that changed.')
    .argument('<FILE...>', "program files, or folders with all *.ns below; '-' is standard input")
    .option('--check', 'change nothing; list what would change')
    .addHelpText('after', DETAILS)
    .action(execute(fmt));
}

async function fmt(
  named: readonly string[],
  { check: checks = false }: { readonly check?: boolean },
  terminal: Terminal,
): Promise<ExitCode> {
  const names = programsOf(named);
  mustReadOnce(names);
  await using runtime = await createRuntime({ concurrency: 1 });
  const outcomes = new Set<Outcome>();
  for (const name of names) {
    if (terminal.interrupt.aborted) return EXIT.cancelled;
    outcomes.add(await formatFile(runtime, name, checks, terminal));
  }
  if (outcomes.has('unusable')) return EXIT.usage;
  if (outcomes.has('broken')) return EXIT.syntax;
  return checks && outcomes.has('changed') ? EXIT.runtime : EXIT.ok;
}

type Outcome = 'same' | 'changed' | 'broken' | 'unusable';

/** Formats one file. What keeps it from being read or written is printed, so that the others are formatted. */
async function formatFile(runtime: Runtime, name: string, checks: boolean, terminal: Terminal): Promise<Outcome> {
  try {
    if (!checks) mustRewrite([name]);
    const text = await readText(name, limitOf('sourceBytes').max, () => terminal.stdin);
    return await format(runtime, { name, text }, checks, terminal);
  } catch (error) {
    if (!(error instanceof UsageError) || terminal.interrupt.aborted) throw error;
    terminal.err.prose(failureLine(error));
    return 'unusable';
  }
}

async function format(runtime: Runtime, source: Source, checks: boolean, terminal: Terminal): Promise<Outcome> {
  const { text, diagnostics } = await runtime.format(source);
  if (text === null) {
    const texts = new Map([[source.name, source.text]]);
    for (const one of diagnostics)
      for (const line of renderDiagnostic(one, SYNTAX, texts, terminal.paintErr)) terminal.err.prose(line);
    return 'broken';
  }
  if (source.name === STDIN && !checks) {
    terminal.out.text(text);
    return 'same';
  }
  if (text === source.text) return 'same';
  if (!checks) await rewriteFile(source.name, text);
  terminal.out.line(printable(source.name));
  return 'changed';
}
