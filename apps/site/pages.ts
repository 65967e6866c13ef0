/** The pages of the site in the order of its menus. Their paths are those of the repository. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The folder of the site, and that of the repository; both end in a slash. */
export const SITE = fileURLToPath(new URL('.', import.meta.url));
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Page {
  /** From the root of the repository. */
  readonly path: string;
  /** What menus call it. */
  readonly text: string;
}

const page = (path: string, text: string): Page => ({ path, text });
const docs = (name: string, text: string): Page => page(`docs/${name}.md`, text);

const START = [
  docs('tutorial', 'Tutorial'),
  docs('install', 'Installation'),
  page('README.md', 'Overview'),
  docs('comparison', 'Comparison and questions'),
];

const HOST = [
  docs('embedding', 'Embedding'),
  docs('tools', 'Tools'),
  docs('policy', 'Policy and quotas'),
  docs('origin', 'Where values come from'),
  docs('foresee', 'Foreseen effects'),
  docs('testing', 'Tests'),
  docs('mcp', 'MCP and the AI SDK'),
];

const AGENTS = [
  docs('agents', 'Agents and models'),
  docs('loop', 'Sessions'),
  docs('repair', 'Repair inside a turn'),
  docs('replay', 'Replay and the inspector'),
  docs('gate', 'Approvals'),
  docs('keys', 'Keys and receipts'),
];

const OPERATION = [
  docs('security', 'Security and containers'),
  docs('operations', 'Operations and versions'),
  docs('scale', 'Many hosts, Postgres'),
  docs('telemetry', 'Telemetry, heat and traces'),
  page('SECURITY.md', 'Threat model'),
  page('CHANGELOG.md', 'Changelog'),
];

const LANGUAGE = [
  docs('language-for-models', 'The language on one page'),
  docs('language-brief', 'The language in brief'),
  docs('language', 'The whole language'),
  docs('stdlib', 'Standard tools'),
  docs('lints', 'Lints'),
  docs('deviations', 'Differences from Go'),
];

const REFERENCE = [
  page('apps/site/reference/cli.md', 'Commands and flags'),
  docs('commands', 'JSON, prompt, unknown files'),
  page('apps/site/reference/errors.md', 'Error codes'),
  docs('limits', 'Limits and prices'),
  page('apps/site/reference/schemas.md', 'JSON schemas'),
  page('apps/site/reference/api/index.md', 'Library'),
  docs('aeiou', 'AEIOU v3 and Ask-Loop v1'),
];

const INSIDE = [
  docs('architecture', 'Architecture'),
  docs('implementation', 'The interpreter'),
  docs('performance', 'Performance'),
  page('bench/README.md', 'Measurements'),
  page('CONTRIBUTING.md', 'Contributing'),
];

const GROUPS: readonly (readonly [title: string, pages: readonly Page[]])[] = [
  ['Start', START],
  ['Programs and tools', HOST],
  ['Agents and sessions', AGENTS],
  ['In production', OPERATION],
  ['Language', LANGUAGE],
  ['Reference', REFERENCE],
  ['Inside', INSIDE],
];

/** The paths of all pages in the menu at the side. */
export const paths: readonly string[] = GROUPS.flatMap(([, pages]) => pages.map(({ path }) => path));

/** Generated pages that stand for a folder, in which others are. */
const FOLDERS: Readonly<Record<string, string>> = {
  'apps/site/reference/errors.md': 'docs/errors/index.md',
  'apps/site/reference/docs.md': 'docs/index.md',
};

/** The path of a page on the site: pages of `apps/site/` lose that folder, or have that of others. */
export const served = (path: string): string => FOLDERS[path] ?? path.replace(/^apps\/site\//, '');

const entry = ({ path, text }: Page) => ({ text, link: `/${served(path).replace(/(index)?\.md$/, '')}` });

/** The menu at the side, with the pages that exist. */
export function sidebar() {
  return GROUPS.map(([text, pages]) => ({
    text,
    collapsed: text === 'Inside',
    items: pages.filter(({ path }) => existsSync(`${ROOT}${path}`)).map(entry),
  }));
}

/** The pages of a folder of the site, as its own page links them. */
export function inFolder(folder: string) {
  const links = GROUPS.flatMap(([, pages]) => pages).map((each) => ({ text: each.text, path: served(each.path) }));
  return links
    .filter(({ path }) => path.startsWith(folder))
    .map(({ text, path }) => ({ text, link: `./${path.slice(folder.length)}` }));
}

/** The menu at the top: the first page of a part stands for it. */
export function nav() {
  const named: readonly (readonly [text: string, path: string])[] = [
    ['Tutorial', 'docs/tutorial.md'],
    ['Guides', 'docs/embedding.md'],
    ['Reference', 'apps/site/reference/cli.md'],
    ['Comparison', 'docs/comparison.md'],
  ];
  return named.map(([text, path]) => entry({ path, text }));
}
