import type { Command } from 'commander';
import { withEdits } from '../../../grammar/repair/apply.ts';
import { MAGIC_TOOL } from '../../../grammar/vocabulary/names.ts';
import {
  grouped,
  type Palette,
  printable,
  renderDiagnostic,
  renderFinding,
  type SourceTexts,
  SYNTAX,
} from '../../report/index.ts';
import { type CheckOptions, createRuntime } from '../../runtime/index.ts';
import { nearestTool, Suggestions } from '../../tools/index.ts';
import { type JsonFinding, toPublicCheck } from '../../wire/findings.ts';
import { limitOf } from '../../wire/limits.ts';
import type { Source } from '../../wire/protocol.ts';
import type { CheckReport, FuelEstimate, LintFinding, ParsedFile } from '../../wire/sourcereports.ts';
import { parsePair, repeatable } from '../flags/options.ts';
import { readSetup, type SetupFlags } from '../flags/setup.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { programsOf, readSources, STDIN } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { mustRewrite, rewriteFile } from '../terminal/write.ts';

interface CheckFlags extends SetupFlags {
  readonly json?: true;
  readonly cost?: true;
  readonly strict?: true;
  readonly fix?: true;
  readonly proposed?: true;
  readonly global?: readonly string[];
}

const DETAILS = `
The command checks all files as one program, as 'run FILE…' would run them. A
folder stands for every *.ns below it but *.test.ns, which 'test' runs.
Without --tools and --policy, no call of a tool is an error; a line below the
findings lists the tools that are not standard tools. 'neuroscript explain
CODE' shows what a finding means.

Exits with 3 when there is an error, and with --strict when there is a warning.

With --fix it changes the files and then says what is left. A safe fix keeps
what a program does, or mends a place that cannot run and has one evident
meaning. A proposed fix is the likeliest meaning of several: --proposed makes it
too. Each file is replaced at once, as a whole.
`;

/** The name of a global that is given as its name, or with its value as for `run`. */
function globalName(text: string): string {
  return text.includes('=') ? parsePair('--global', text).name : text;
}

/** `check FILE…`: reads programs without running them. */
export function addCheck(program: Command, execute: Execute): void {
  program
    .command('check')
    .summary('find mistakes without running anything')
    .description('Shows syntax errors, likely mistakes, and the fuel that each block takes, without running anything.')
    .argument('<FILE...>', "program files, or folders with all *.ns below; '-' is standard input")
    .option('--tools <FILE>', 'tools file (YAML): calls of other tools, or with a wrong number of arguments, are errors')
    .option('--policy <FILE>', 'policy file (YAML): calls that it denies are errors')
    .option('--global <NAME>', 'a global that the program will find, also as NAME=JSON (repeatable)', repeatable(globalName))
    .option('--strict', 'also fail on warnings')
    .option('--fix', 'make the safe fixes in the files')
    .option('--proposed', 'with --fix: make the proposed fixes too')
    .option('--json', 'print the findings as a JSON list')
    .option('--cost', 'with --json: print an object instead, with the findings and the fuel of each block')
    .addHelpText('after', DETAILS)
    .action(execute((named: string[], flags: CheckFlags, terminal: Terminal) => check(programsOf(named), flags, terminal)));
}

/** Says what is wrong with programs; with `fix`, changes their files first. */
export async function check(names: readonly string[], flags: CheckFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.proposed && !flags.fix) throw new UsageError('--proposed needs --fix');
  if (flags.fix && names.includes(STDIN)) throw new UsageError('--fix changes files; it cannot change standard input');
  if (flags.fix) mustRewrite(names);
  const given = await readSources(names, SOURCE_BYTES, () => terminal.stdin);
  await using checker = await openChecker(flags);
  const first = await checker.check(given);
  const { sources, report, fixed } = flags.fix
    ? await fix({ sources: given, report: first }, (changed) => checker.check(changed), flags.proposed === true)
    : { sources: given, report: first, fixed: [] };
  for (const [index, { name, text }] of sources.entries()) if (text !== given[index]?.text) await rewriteFile(name, text);
  if (flags.json) {
    const { findings, cost } = toPublicCheck(report);
    const all = [...fixed.map((one) => ({ ...one, fixed: true })), ...findings];
    terminal.out.json(flags.cost ? { findings: all, cost } : all);
  } else {
    for (const one of fixed) terminal.out.line(fixedLine(one));
    const texts = new Map(sources.map((source) => [source.name, source.text]));
    const { findings, files } = checkLines(report, texts, checker.standard, terminal.paintErr);
    for (const line of findings) terminal.err.prose(line);
    for (const line of files) terminal.out.prose(line);
    const left = flags.fix ? proposals(report) : 0;
    if (left > 0)
      terminal.err.prose(`${left} proposed ${left === 1 ? 'fix is' : 'fixes are'} left; --fix --proposed makes proposed fixes`);
  }
  const fails = ({ severity }: LintFinding) => severity === 'error' || (flags.strict === true && severity === 'warning');
  return report.diagnostics.length > 0 || report.findings.some(fails) ? EXIT.syntax : EXIT.ok;
}

function fixedLine({ file, line, message, fix: made }: JsonFinding): string {
  return printable(`fixed ${file}:${line}: ${message}${made === undefined ? '' : `; ${made.message}`}`);
}

/** Maximum bytes of a program file. */
export const SOURCE_BYTES = limitOf('sourceBytes').max;

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
  await using checker = await openChecker(flags);
  const reports: CheckReport[] = [];
  for (const sources of programs) reports.push(await checker.check(sources));
  return { reports, standard: checker.standard };
}

/** Checks programs. */
interface Checker extends Pick<Examination, 'standard'>, AsyncDisposable {
  check(sources: readonly Source[]): Promise<CheckReport>;
}

/** What checks programs with the tools and the policy of the flags. */
async function openChecker(flags: SetupFlags & Pick<CheckFlags, 'global'>): Promise<Checker> {
  await using opened = new AsyncDisposableStack();
  const { tools, policy } = await readSetup(flags, opened);
  const runtime = opened.use(await createRuntime({ tools, policy, concurrency: 1 }));
  const options: CheckOptions = {
    globals: flags.global ?? [],
    tools: flags.tools === undefined ? 'any' : 'registered',
    policy: flags.tools !== undefined || flags.policy !== undefined,
  };
  const resources = opened.move();
  return {
    standard: flags.tools === undefined ? tools.map(({ canonicalName }) => canonicalName) : null,
    check: (sources) => runtime.check(sources, options),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** The report of `check` as lines: what is wrong, and what is said of each file that parses. */
export function checkLines(
  { diagnostics, files, findings, estimates }: CheckReport,
  texts: SourceTexts,
  standard: readonly string[] | null,
  palette: Palette,
): { readonly findings: readonly string[]; readonly files: readonly string[] } {
  return {
    findings: [
      ...diagnostics.flatMap((one) => renderDiagnostic(one, SYNTAX, texts, palette)),
      ...findings.flatMap((one) => renderFinding(one, texts, palette)),
    ],
    files: files.flatMap((file) => [
      summary(file, findings),
      ...(standard === null ? [] : strangers(file, standard)).map((line) => `  ${line}`),
      ...estimates.filter((one) => one.file === file.name).map((one) => `  ${cost(one)}`),
    ]),
  };
}

/** Summarises a file without syntax errors in one line. */
function summary(file: ParsedFile, findings: readonly LintFinding[]): string {
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
function strangers({ tools }: ParsedFile, standard: readonly string[]): readonly string[] {
  const similar = new Suggestions(standard, nearestTool);
  return tools
    .filter((tool) => tool !== MAGIC_TOOL && !standard.includes(tool))
    .map((tool) => {
      const meant = similar.of(tool);
      const more = meant === undefined ? '--tools says which others there are' : `did you mean ${meant}?`;
      return printable(`${tool} is not a standard tool; ${more}`);
    });
}

const WORDS = { command: 'command block', procedure: 'procedure', event: 'event handler' } as const;

/** The fuel of a block, in one line. */
function cost({ kind, name, file, line, least, most, because }: FuelEstimate): string {
  const what = `${WORDS[kind]}${name === '' ? '' : ` ${name}`} in line ${line}`;
  if (most !== null)
    return printable(`${what}: ${least === most ? grouped(most) : `${grouped(least)} to ${grouped(most)}`} fuel`);
  const place = because === null ? '' : because.file === file ? ` (line ${because.line})` : ` (${because.file}:${because.line})`;
  return printable(`${what}: ${grouped(least)} fuel or more, without a bound: ${because?.message ?? ''}${place}`);
}

export interface Checked {
  readonly sources: readonly Source[];
  readonly report: CheckReport;
}

/** Fixes can uncover findings that have fixes themselves: a program that does not parse has no findings of the linter. */
const MAX_ROUNDS = 4;

/**
 * Makes the safe fixes of a report in its sources, with `proposed` the others too, and checks again, until nothing is left to fix.
 * Keeps no round that leaves as many errors as there were.
 */
export async function fix(
  first: Checked,
  check: (sources: readonly Source[]) => Promise<CheckReport>,
  proposed: boolean,
): Promise<Checked & { readonly fixed: readonly JsonFinding[] }> {
  let last = first;
  const fixed: JsonFinding[] = [];
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const { findings } = toPublicCheck(last.report);
    const chosen = findings.filter(
      (found) => found.fix !== undefined && found.fix.edits.length > 0 && (proposed || found.fix.safe),
    );
    if (chosen.length === 0) break;
    const sources = last.sources.map((source) => {
      const edits = chosen.filter(({ file }) => file === source.name).flatMap((found) => found.fix?.edits ?? []);
      return edits.length === 0 ? source : { ...source, text: withEdits(source.text, edits) };
    });
    const report = await check(sources);
    if (!isBetter(findings, toPublicCheck(report).findings)) break;
    fixed.push(...chosen);
    last = { sources, report };
  }
  return { ...last, fixed };
}

/** How many findings of a report have a fix that is only proposed. */
export function proposals(report: CheckReport): number {
  return toPublicCheck(report).findings.filter(({ fix: found }) => found !== undefined && found.edits.length > 0 && !found.safe)
    .length;
}

/** Fewer syntax errors, or as many and fewer errors, or as many of both and fewer findings. */
function isBetter(before: readonly JsonFinding[], after: readonly JsonFinding[]): boolean {
  const counts = (all: readonly JsonFinding[]): readonly number[] => [
    all.filter(({ code }) => code === SYNTAX).length,
    all.filter(({ severity }) => severity === 'error').length,
    all.length,
  ];
  const [now, then] = [counts(after), counts(before)];
  const different = now.findIndex((count, index) => count !== then[index]);
  return different >= 0 && (now[different] ?? 0) < (then[different] ?? 0);
}
