import { readdir, readFile } from 'node:fs/promises';

/** The folder of this package's package.json, with a slash at the end. */
export const PACKAGE = new URL('.', import.meta.resolve('#package'));

const PAGES = new URL('docs/errors/', PACKAGE);
const LINTS = new URL('docs/lints.md', PACKAGE);

export interface ErrorPage {
  readonly code: string;
  /** For a code of the language the name that programs see, such as `Type`. */
  readonly title: string;
  readonly page: string;
}

/** The pages of all error codes and findings, by code. */
export async function errorPages(): Promise<readonly ErrorPage[]> {
  return [...(await codes()), ...(await lints())].sort((a, b) => a.code.localeCompare(b.code, 'en', { numeric: true }));
}

async function codes(): Promise<readonly ErrorPage[]> {
  const names = (await readdir(PAGES)).flatMap((name) => /^((?:NS|ERR_|LINT_)\w+)\.md$/.exec(name)?.[1] ?? []);
  return Promise.all(
    names.map(async (code) => {
      const page = await readFile(new URL(`${code}.md`, PAGES), 'utf8');
      return { code, title: (page.split('\n')[0] ?? '').slice(`# ${code}: `.length), page };
    }),
  );
}

/** The codes of `check` share one page: a table with titles, and a section for each. */
async function lints(): Promise<readonly ErrorPage[]> {
  const [table = '', ...sections] = (await readFile(LINTS, 'utf8')).split(/^##(?= LINT_)/m);
  const rows = table.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  return sections.map((text) => {
    const code = /LINT_\w+/.exec(text)?.[0] ?? '';
    return { code, title: rows.find(([, link]) => link?.startsWith(`[${code}]`))?.[3] ?? '', page: `#${text}` };
  });
}
