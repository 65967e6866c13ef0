import type { Command } from 'commander';
import { createRuntime } from '../runtime/index.ts';
import { LIMITS } from '../sandbox/limits.ts';
import type { Diagnostic, ParsedFile } from '../wire/protocol.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { readSources } from './input.ts';
import { renderDiagnostic, SYNTAX } from './render.ts';
import type { Execute, Terminal } from './terminal.ts';
import { printable } from './text.ts';

interface CheckFlags {
  readonly json?: true;
}

/** `check FILE…`: reads programs without running them. */
export function addCheck(program: Command, execute: Execute): void {
  program
    .command('check')
    .summary('look for mistakes without running anything')
    .description('Parses programs without running them and shows every syntax error. Exits 3 when there is one.')
    .argument('<files...>', "program files; '-' is standard input")
    .option('--json', 'print the findings as a JSON list')
    .action((files: string[], flags: CheckFlags) => execute((terminal) => check(files, flags, terminal)));
}

async function check(files: readonly string[], flags: CheckFlags, terminal: Terminal): Promise<ExitCode> {
  const sourceBytes = LIMITS.find((limit) => limit.key === 'sourceBytes')?.max ?? 0;
  const sources = await readSources(files, sourceBytes, () => terminal.stdin);
  await using runtime = await createRuntime({ concurrency: 1 });
  const found = await runtime.check(sources);
  if (flags.json) terminal.out.line(JSON.stringify(found.diagnostics.map(toFinding), null, 2));
  else {
    const texts = new Map(sources.map((source) => [source.name, source.text]));
    for (const one of found.diagnostics) {
      for (const line of renderDiagnostic(one, SYNTAX, texts, terminal.paintErr)) terminal.err.line(line);
    }
    for (const file of found.files) terminal.out.line(summary(file));
  }
  return found.diagnostics.length === 0 ? EXIT.ok : EXIT.syntax;
}

/** One element of `check --json` (DESIGN 5). */
interface Finding {
  readonly code: string;
  readonly severity: 'error';
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly endLine: number;
  readonly endColumn: number;
  readonly message: string;
  /** What to write instead, in words. */
  readonly fix?: string;
}

function toFinding(found: Diagnostic): Finding {
  const { file, line, column, endLine, endColumn, message, hint } = found;
  const finding: Finding = { code: SYNTAX, severity: 'error', file, line, column, endLine, endColumn, message };
  return hint === undefined ? finding : { ...finding, fix: hint };
}

function summary(file: ParsedFile): string {
  const count = (number: number, thing: string) => (number === 0 ? [] : [`${number} ${thing}${number === 1 ? '' : 's'}`]);
  const parts = [
    ...count(file.commandBlocks, 'command block'),
    ...count(file.procedures.length, 'procedure'),
    ...count(file.events, 'event handler'),
  ];
  const tools = file.tools.length === 0 ? '' : `; calls ${file.tools.join(', ')}`;
  return printable(`${file.name}: no mistakes found (${parts.length === 0 ? 'nothing to run' : parts.join(', ')}${tools})`);
}
