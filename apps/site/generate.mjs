// Writes the pages of `apps/site/reference/` that are made from the repository: the command line, the error codes, the JSON Schemas.
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createProgram } from '../../src/cli/program.ts';
import { commandLinePage } from './commandline.ts';
import { errorsPage, folderPage, schemasPage } from './lists.ts';
import { inFolder } from './pages.ts';

const at = (path) => new URL(path, import.meta.url);
const listed = (pattern) =>
  globSync(pattern, { cwd: at('../..') })
    .sort()
    .map((path) => ({ file: basename(path), text: readFileSync(at(`../../${path}`), 'utf8') }));

// The definitions are read, and no command runs: nothing writes to a terminal.
const program = await createProgram([], {}, async () => {});

mkdirSync(at('reference/'), { recursive: true });
writeFileSync(at('reference/cli.md'), commandLinePage(program));
writeFileSync(at('reference/errors.md'), errorsPage(listed('docs/errors/*.md')));
writeFileSync(at('reference/schemas.md'), schemasPage(listed('docs/schemas/*.json')));
const MENU = 'The menu has them by subject.';
writeFileSync(at('reference/docs.md'), folderPage('Pages', `All pages, each about one subject. ${MENU}`, inFolder('docs/')));
writeFileSync(
  at('reference/index.md'),
  folderPage('Reference', `What is generated from the source. ${MENU}`, inFolder('reference/')),
);
