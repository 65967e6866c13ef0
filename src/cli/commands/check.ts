import type { Command } from 'commander';
import { MAGIC_TOOL } from '../../loop/index.ts';
import { printable, renderDiagnostic, renderFinding, type SourceTexts, SYNTAX } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { nearestTool } from '../../tools/index.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Source } from '../../wire/protocol.ts';
import type { CheckReport, FuelEstimate, LintFinding, ParsedFile } from '../../wire/sourcereports.ts';
import { texts } from '../flags/options.ts';
import { readSetup, type SetupFlags } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { readSources } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface CheckFlags extends SetupFlags {
  readonly json?: true;
  readonly cost?: true;
  readonly strict?: true;
  readonly global?: readonly string[];
}

const DETAILS = `
The command checks all files as one program, as 'run FILE…' would run them.
Without --tools and --policy, no call of a tool is an error; a line below the
findings lists the tools that are not standard tools. 'neuroscript explain
CODE' shows what a finding means.

Exits with 3 when there is an error, and with --strict when there is a warning.
`;

/** `check FILE…`: reads programs without running them. */
export function addCheck(program: Command, execute: Execute): void {
  program
    .command('check')
    .summary('find mistakes without running anything')
    .description('Shows syntax errors, likely mistakes, and the fuel that each block takes, without running anything.')
    .argument('<files...>', "program files; '-' is standard input")
    .option('--tools <FILE>', 'tools file (YAML): calls of other tools, or with a wrong number of arguments, are errors')
    .option('--policy <FILE>', 'policy file (YAML): calls that it denies are errors')
    .option('--global <NAME>', 'a global that the program will find (texts)', texts)
    .option('--strict', 'also fail on warnings')
    .option('--json', 'print the findings as a JSON list')
    .option('--cost', 'with --json: print an object instead, with the findings and the fuel of each block')
    .addHelpText('after', DETAILS)
    .action((files: string[], flags: CheckFlags) => execute((terminal) => check(files, flags, terminal)));
}

async function check(names: readonly string[], flags: CheckFlags, terminal: Terminal): Promise<ExitCode> {
  const sources = await readSources(names, SOURCE_BYTES, () => terminal.stdin);
  const { reports, standard } = await examine([sources], flags);
  const failed = reports.map((report) => {
    if (flags.json) terminal.out.json(flags.cost ? toPublicCheck(report) : toPublicCheck(report).findings);
    else show(report, new Map(sources.map((source) => [source.name, source.text])), standard, terminal);
    const fails = ({ severity }: LintFinding) => severity === 'error' || (flags.strict === true && severity === 'warning');
    return report.diagnostics.length > 0 || report.findings.some(fails);
  });
  return failed.includes(true) ? EXIT.syntax : EXIT.ok;
}

/** Maximum bytes of a program file. */
export const SOURCE_BYTES = limitOf('sourceBytes').max;

/** The result of {@link examine}. */
export interface Examination {
  /** One for each program. */
  readonly reports: readonly CheckReport[];
  /** Canonical names of the standard tools; null when a tools file lists all tools. */
  readonly standard: readonly string[] | null;
}

/**
 * Checks each program by itself without running it; the sources of one program count as one run. A worker parses them, because
 * this process must not read untrusted text.
 */
export async function examine(
  programs: readonly (readonly Source[])[],
  flags: Pick<CheckFlags, 'tools' | 'policy' | 'global'> = {},
): Promise<Examination> {
  await using resources = new AsyncDisposableStack();
  const { tools, policy } = await readSetup(flags, resources);
  await using runtime = await createRuntime({ tools, policy, concurrency: 1 });
  const reports: CheckReport[] = [];
  for (const sources of programs)
    reports.push(
      await runtime.check(sources, {
        globals: flags.global ?? [],
        tools: flags.tools === undefined ? 'any' : 'registered',
        policy: flags.tools !== undefined || flags.policy !== undefined,
      }),
    );
  return { reports, standard: flags.tools === undefined ? tools.map(({ canonicalName }) => canonicalName) : null };
}

function show(
  { diagnostics, files, findings, estimates }: CheckReport,
  texts: SourceTexts,
  standard: readonly string[] | null,
  { out, err, paintErr }: Terminal,
): void {
  const lines = [
    ...diagnostics.flatMap((one) => renderDiagnostic(one, SYNTAX, texts, paintErr)),
    ...findings.flatMap((one) => renderFinding(one, texts, paintErr)),
  ];
  for (const line of lines) err.line(line);
  for (const file of files) {
    out.line(summary(file, findings));
    for (const { message } of standard === null ? [] : strangers(file, standard)) out.line(`  ${message}`);
    for (const one of estimates) if (one.file === file.name) out.line(`  ${cost(one)}`);
  }
}

/** Summarises a file without syntax errors in one line. */
export function summary(file: ParsedFile, findings: readonly LintFinding[]): string {
  const count = (number: number, thing: string) => (number === 0 ? [] : [`${number} ${thing}${number === 1 ? '' : 's'}`]);
  const parts = [
    ...count(file.commandBlocks, 'command block'),
    ...count(file.procedures.length, 'procedure'),
    ...count(file.events, 'event handler'),
  ];
  const own = findings.filter((found) => found.file === file.name);
  const found = (['error', 'warning', 'info'] as const).flatMap((severity) =>
    count(own.filter((one) => one.severity === severity).length, severity === 'info' ? 'remark' : severity),
  );
  const tools = file.tools.length === 0 ? '' : `; calls ${file.tools.join(', ')}`;
  const verdict = found.length === 0 ? 'no mistakes found' : found.join(', ');
  return printable(`${file.name}: ${verdict} (${parts.length === 0 ? 'nothing to run' : parts.join(', ')}${tools})`);
}

/** Lists the tools that only --tools could provide. Without a tools file, such a call may or may not be a mistake. */
export function strangers({ tools }: ParsedFile, standard: readonly string[]): readonly { tool: string; message: string }[] {
  return tools
    .filter((tool) => tool !== MAGIC_TOOL && !standard.includes(tool))
    .map((tool) => {
      const meant = nearestTool(tool, standard);
      const more = meant === undefined ? '--tools says which others there are' : `did you mean ${meant}?`;
      return { tool, message: printable(`${tool} is no standard tool; ${more}`) };
    });
}

const WORDS = { command: 'command block', procedure: 'procedure', event: 'event handler' } as const;

/** The fuel of a block, in one line. */
export function cost({ kind, name, file, line, least, most, because }: FuelEstimate): string {
  const what = `${WORDS[kind]}${name === '' ? '' : ` ${name}`} in line ${line}`;
  const fuel = (amount: number) => amount.toLocaleString('en-US');
  if (most !== null) return printable(`${what}: ${least === most ? fuel(most) : `${fuel(least)} to ${fuel(most)}`} fuel`);
  const place = because === null ? '' : because.file === file ? ` (line ${because.line})` : ` (${because.file}:${because.line})`;
  return printable(`${what}: ${fuel(least)} fuel or more, without a bound: ${because?.message ?? ''}${place}`);
}
