import type { Command } from 'commander';
import { nearestName } from '../../../grammar/vocabulary/spelling.ts';
import { type Palette, paragraph, printable } from '../../report/index.ts';
import { type ErrorPage, errorPages } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

interface Flags {
  readonly json?: true;
}

/** `explain CODE`: shows the page of an error code. */
export function addExplain(program: Command, execute: Execute): void {
  program
    .command('explain')
    .summary('explain an error code')
    .description('Shows what an error code means and what to do about it; without a code, lists all of them.')
    .argument('[CODE]', 'a code or the name of an error: NS14, ERR_QUOTA, DivisionByZero')
    .option('--json', 'print an object with code, title and page; without a code, a list of codes and titles')
    .action(execute(explain));
}

async function explain(asked: string | undefined, { json }: Flags, { out, paintOut }: Terminal): Promise<ExitCode> {
  const entries = await errorPages();
  if (asked === undefined) {
    if (json) out.json(entries.map(({ code, title }) => ({ code, title })));
    else
      for (const { code, title } of entries)
        for (const line of paragraph(title, paintOut, `${code.padEnd(26)} `, ' '.repeat(27))) out.line(line);
    return EXIT.ok;
  }
  const entry = entryOf(asked, entries);
  if (json) out.json(entry);
  else for (const line of wrapped(entry.page.trimEnd(), paintOut)) out.line(line);
  return EXIT.ok;
}

/** Every code with its title, for the completion of command lines. */
export async function codesAndTitles(): Promise<readonly { readonly text: string; readonly help: string }[]> {
  return (await errorPages()).map(({ code, title }) => ({ text: code, help: title }));
}

function entryOf(asked: string, entries: readonly ErrorPage[]): ErrorPage {
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

/** The lines of a page, none wider than a terminal but those of programs and tables. */
function wrapped(page: string, palette: Palette): readonly string[] {
  let inProgram = false;
  return page.split('\n').flatMap((line) => {
    if (line.startsWith('```')) inProgram = !inProgram;
    return inProgram || line.startsWith('|') ? [line] : paragraph(line, palette);
  });
}
