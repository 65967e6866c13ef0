import type { Command } from 'commander';
import { printable, renderDiagnostic, SYNTAX } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Source } from '../../wire/protocol.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { programsOf, readSources, STDIN } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { mustRewrite, rewriteFile } from '../terminal/write.ts';

const DETAILS = `
The layout keeps comments, the forms of literals, and groups of lines;
everything else has one form. Formatting never changes what a program does. The
command skips a file with a syntax error, formats the others, and exits with 3.

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
  const sourceBytes = limitOf('sourceBytes').max;
  // Reads all files before it writes one, so that a wrong name changes nothing.
  if (!checks) mustRewrite(names);
  const sources = await readSources(names, sourceBytes, () => terminal.stdin);
  await using runtime = await createRuntime({ concurrency: 1 });
  const outcomes: Formatted[] = [];
  for (const source of sources) outcomes.push(await formatOne(runtime, source, checks, terminal));
  if (outcomes.includes('broken')) return EXIT.syntax;
  return checks && outcomes.includes('changed') ? EXIT.runtime : EXIT.ok;
}

type Formatted = 'same' | 'changed' | 'broken';

async function formatOne(runtime: Runtime, source: Source, checks: boolean, terminal: Terminal): Promise<Formatted> {
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
