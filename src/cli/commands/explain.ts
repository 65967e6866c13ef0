import { readdir, readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { nearestName } from '../../../grammar/vocabulary/names.ts';
import { printable } from '../../report/index.ts';
import { PACKAGE } from '../package.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { paragraph } from '../terminal/layout.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const PAGES = new URL('docs/errors/', PACKAGE);
const LINTS = new URL('docs/lints.md', PACKAGE);

/** What is said about one code. */
interface Entry {
  readonly code: string;
  /** For a code of the language the name that programs see, such as `Type`. */
  readonly title: string;
  readonly page: string;
}

/** `explain CODE`: shows the page of an error code. */
export function addExplain(program: Command, execute: Execute): void {
  program
    .command('explain')
    .summary('explain an error code')
    .description('Shows what an error code means and what to do about it; without a code, lists all of them.')
    .argument('[code]', 'a code or the name of an error: NS14, ERR_QUOTA, DivisionByZero')
    .option('--json', 'print an object with code, title and page; without a code, a list of codes and titles')
    .action((code: string | undefined, flags: { readonly json?: true }) =>
      execute((terminal) => explain(code, flags.json === true, terminal)),
    );
}

async function explain(asked: string | undefined, json: boolean, { out }: Terminal): Promise<ExitCode> {
  const entries = await allEntries();
  if (asked === undefined) {
    if (json) out.line(JSON.stringify(entries.map(({ code, title }) => ({ code, title }))));
    else
      for (const { code, title } of entries)
        for (const line of paragraph(title, `${code.padEnd(26)} `, ' '.repeat(27))) out.line(line);
    return EXIT.ok;
  }
  const entry = entryOf(asked, entries);
  if (json) out.line(JSON.stringify(entry));
  else for (const line of wrapped(entry.page.trimEnd())) out.line(line);
  return EXIT.ok;
}

async function allEntries(): Promise<readonly Entry[]> {
  return [...(await pages()), ...(await lints())].sort((a, b) => byNumber(a.code, b.code));
}

/** Every code with its title, for the completion of command lines. */
export async function codesAndTitles(): Promise<readonly { readonly text: string; readonly help: string }[]> {
  return (await allEntries()).map(({ code, title }) => ({ text: code, help: title }));
}

function entryOf(asked: string, entries: readonly Entry[]): Entry {
  const wanted = asked.toUpperCase();
  const entry = entries.find(({ code, title }) => [code, code.replace(/^NS/, ''), title.toUpperCase()].includes(wanted));
  if (entry !== undefined) return entry;
  const near = nearestName(
    wanted,
    entries.flatMap(({ code, title }) => (title.includes(' ') ? [code] : [code, title])),
  );
  throw new UsageError(
    `unknown error code '${printable(asked)}'; ${near === undefined ? "'neuroscript explain' lists all" : `did you mean ${near}?`}`,
  );
}

async function pages(): Promise<readonly Entry[]> {
  const codes = (await readdir(PAGES)).flatMap((name) => /^((?:NS|ERR_|LINT_)\w+)\.md$/.exec(name)?.[1] ?? []);
  return Promise.all(
    codes.map(async (code) => {
      const page = await readFile(new URL(`${code}.md`, PAGES), 'utf8');
      return { code, title: (page.split('\n')[0] ?? '').slice(`# ${code}: `.length), page };
    }),
  );
}

/** The codes of `check` share one page: a table with titles, and a section for each. */
async function lints(): Promise<readonly Entry[]> {
  const [table = '', ...sections] = (await readFile(LINTS, 'utf8')).split(/^##(?= LINT_)/m);
  const rows = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return sections.map((text) => {
    const code = /LINT_\w+/.exec(text)?.[0] ?? '';
    return { code, title: rows.find(([, link]) => link?.startsWith(`[${code}]`))?.[3] ?? '', page: `#${text}` };
  });
}

/** The lines of a page, none wider than a terminal but those of programs and tables. */
function wrapped(page: string): readonly string[] {
  let inProgram = false;
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('```')) inProgram = !inProgram;
    return inProgram || line.startsWith('|') ? [line] : paragraph(line);
  });
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
