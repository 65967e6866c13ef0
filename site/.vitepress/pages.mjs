// The pages of the site in the order of its menus. Their paths are those of the repository.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const SITE = fileURLToPath(new URL('..', import.meta.url));
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const page = (path, text) => ({ text, link: `/${path}`, file: path });
const docs = (name, text) => page(`docs/${name}.md`, text);

const START = [
  docs('tutorial', 'Tutorial'),
  docs('install', 'Installation'),
  page('README.md', 'Overview'),
  docs('comparison', 'Comparison'),
  docs('faq', 'Questions and answers'),
];

const HOST = [
  docs('embedding', 'Embedding'),
  docs('tenants', 'Tenants'),
  docs('tools', 'Tools'),
  docs('policy', 'Policy'),
  docs('quotas', 'Quotas'),
  docs('contexts', 'Contexts and forks'),
  docs('testing', 'Testing programs'),
  docs('mcp', 'MCP'),
];

const AGENTS = [
  docs('agents', 'Agents and models'),
  docs('loop', 'Sessions'),
  docs('replay', 'Replay and trials'),
  docs('suspend', 'Turns that wait'),
  docs('ask', 'Asking other agents'),
  docs('gate', 'Approvals'),
  docs('keys', 'Keys'),
];

const OPERATION = [
  docs('security', 'Security'),
  docs('containers', 'Containers'),
  docs('operations', 'Operations'),
  docs('telemetry', 'Telemetry'),
  docs('performance', 'Performance'),
  page('SECURITY.md', 'Threat model'),
  docs('versions', 'Versions'),
  page('CHANGELOG.md', 'Changelog'),
];

const LANGUAGE = [
  docs('language-for-models', 'The language on one page'),
  docs('language', 'The whole language'),
  docs('stdlib', 'Standard tools'),
  docs('lints', 'Lints'),
  docs('deviations', 'Differences from Go'),
];

const REFERENCE = [
  page('site/reference/cli.md', 'Command line'),
  docs('json', 'JSON of the commands'),
  docs('repl', 'Prompt'),
  docs('inspect', 'Unknown files'),
  page('site/reference/errors.md', 'Error codes'),
  docs('limits', 'Limits and prices'),
  page('site/reference/schemas.md', 'JSON schemas'),
  page('site/reference/api/index.md', 'Library'),
  docs('aeiou', 'AEIOU v3'),
  docs('ask-loop-v1', 'Ask-Loop v1'),
];

const INSIDE = [
  docs('architecture', 'Architecture'),
  docs('implementation', 'The interpreter'),
  docs('review-sandbox', 'Review of the sandbox'),
  page('bench/README.md', 'Measurements'),
  page('CONTRIBUTING.md', 'Contributing'),
];

/** The groups of the menu at the side. */
const GROUPS = [
  ['Start', START],
  ['Programs and tools', HOST],
  ['Agents and sessions', AGENTS],
  ['In production', OPERATION],
  ['Language', LANGUAGE],
  ['Reference', REFERENCE],
  ['Inside', INSIDE],
];

/** The path of a page on the site: pages of `site/` lose that folder. */
export const served = (path) => path.replace(/^site\//, '');

const entry = ({ text, link }) => ({ text, link: `/${served(link.slice(1)).replace(/\.md$/, '')}` });

/** The menu at the side, with the pages that exist. */
export function sidebar() {
  return GROUPS.map(([text, pages]) => ({
    text,
    collapsed: text === 'Inside',
    items: pages.filter(({ file }) => existsSync(`${ROOT}${file}`)).map(entry),
  }));
}

/** The menu at the top. */
export function nav() {
  return [
    ['Tutorial', START[0]],
    ['Guides', HOST[0]],
    ['Reference', REFERENCE[0]],
    ['Comparison', START[3]],
    ['FAQ', START[4]],
  ].flatMap(([text, target]) => (existsSync(`${ROOT}${target.file}`) ? [{ ...entry(target), text }] : []));
}
