import { readdir, readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { nearestName } from '../../../grammar/vocabulary/names.ts';
import { printable } from '../../report/index.ts';
import { PACKAGE } from '../package.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';

const PAGES = new URL('docs/errors/', PACKAGE);
const LINTS = new URL('docs/lints.md', PACKAGE);

/** `explain CODE`: shows the page of an error code. */
export function addExplain(program: Command, execute: Execute): void {
  program
    .command('explain')
    .summary('explain an error code')
    .description('Shows what an error code means and what to do about it; without a code, lists all of them.')
    .argument('[code]', 'such as NS14 or ERR_QUOTA')
    .action((code: string | undefined) => execute((terminal) => explain(code, terminal)));
}

async function explain(asked: string | undefined, terminal: Terminal): Promise<ExitCode> {
  const lints = await lintSections();
  const pages = (await readdir(PAGES)).flatMap((name) => /^((?:NS|ERR_|LINT_)\w+)\.md$/.exec(name)?.[1] ?? []);
  const codes = [...pages, ...lints.keys()].sort(byNumber);
  if (asked === undefined) {
    for (const code of codes) terminal.out.line(code);
    return EXIT.ok;
  }
  const wanted = asked.toUpperCase();
  const code = codes.find((known) => known === wanted || known === `NS${wanted}`);
  if (code === undefined) {
    const near = nearestName(wanted, codes);
    throw new UsageError(
      `unknown error code '${printable(asked)}'; ${near === undefined ? "'neuroscript explain' lists all" : `did you mean ${near}?`}`,
    );
  }
  terminal.out.line((lints.get(code) ?? (await readFile(new URL(`${code}.md`, PAGES), 'utf8'))).trimEnd());
  return EXIT.ok;
}

/** The codes of `check` share one page, with a section for each. */
async function lintSections(): Promise<ReadonlyMap<string, string>> {
  const sections = (await readFile(LINTS, 'utf8')).split(/^##(?= LINT_)/m).slice(1);
  return new Map(sections.map((text) => [/LINT_\w+/.exec(text)?.[0] ?? '', `#${text}`]));
}

function byNumber(a: string, b: string): number {
  return a.localeCompare(b, 'en', { numeric: true });
}
