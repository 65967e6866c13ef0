import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  ESCAPED,
  filesBelow,
  isNode,
  literalText,
  type SyntaxNode,
  sourceOf,
  templateParts,
  walk,
} from '../architecture/source.ts';

/**
 * Which requirement is proved by which test. A requirement id is the one of the project's requirement list (`A3-3.2-6`,
 * `ARGO-R4`, `CTX-2B-5`) or a row of the language profile (`P12`). A test, or a
 * program of the conformance suite, proves it by naming it in its title.
 */

const FOLDER = new URL('./', import.meta.url);
const PLANNED = new URL('planned.txt', FOLDER);
const ID =
  /(?<![A-Za-z0-9.-])(?:(?:A3|AL3|AL1|ARGO|CTX)-[A-Za-z0-9.]*[A-Za-z0-9](?:-[A-Za-z0-9]+)*|P[0-9]{1,2}(?![A-Za-z0-9.]*[A-Za-z0-9]))/g;

/** A test file without it has no id, and needs no parsing. */
const MAY_NAME = /(?:A3|AL3|AL1|ARGO|CTX)-|P[0-9]/;

/** Where an id stands: `test/aeiou/token.test.ts: 'A3-6.2-1: …'`. */
export interface Mention {
  readonly id: string;
  readonly path: string;
  readonly title: string;
}

/** Every requirement id there is, in the order of the list. */
export function requirements(): string[] {
  return linesOf(new URL('requirements.txt', FOLDER));
}

/** The ids that no test proves yet. */
export function planned(): string[] {
  return linesOf(PLANNED);
}

/** The seal in the first line of `planned.txt`: how many ids it holds and their digest. */
export function seal(ids: readonly string[]): string {
  const digest = createHash('sha256').update(ids.join('\n')).digest('hex');
  return `# ${ids.length} ids, sha256 ${digest}; changed only by scripts/traceability.mjs --prune`;
}

/** The seal as it stands in the file. */
export function plannedSeal(): string {
  return readFileSync(PLANNED, 'utf8').split('\n')[0] ?? '';
}

/** Takes what is proved out of `planned.txt` and seals it anew. Throws when the file was changed by hand. */
export function prune(): { readonly removed: readonly string[]; readonly left: number } {
  const before = planned();
  if (plannedSeal() !== seal(before)) throw new Error(`${fileURLToPath(PLANNED)} was changed by hand: restore it first`);
  const proved = new Set(mentions().map(({ id }) => id));
  const after = before.filter((id) => !proved.has(id));
  writeFileSync(PLANNED, `${[seal(after), ...after].join('\n')}\n`);
  return { removed: before.filter((id) => proved.has(id)), left: after.length };
}

/** Every id-like word in the titles of the tests below `test/`, the programs of the conformance suite included. */
export function mentions(): Mention[] {
  const tests = filesBelow('test', '.test.ts')
    .map(sourceOf)
    .filter(({ text }) => MAY_NAME.test(text) || ESCAPED.test(text))
    .map(({ path, program }) => ({ path, titles: titlesOf(program) }));
  const programs = filesBelow('test/conformance', '.ns').map((path) => {
    return { path, titles: programTitles(readFileSync(new URL(`../../${path}`, FOLDER), 'utf8')) };
  });
  return [...tests, ...programs].flatMap(({ path, titles }) =>
    titles.flatMap((title) => idsIn(title).map((id) => ({ id, path, title }))),
  );
}

/** The titles of a file of programs: the first line `#: …` of each. */
export function programTitles(text: string): string[] {
  return text.split(/^---$/m).flatMap((program) => /^#: (.*)$/m.exec(program)?.[1] ?? []);
}

/** The id-like words of a text, in order. */
export function idsIn(text: string): string[] {
  return [...text.matchAll(ID)].map(([id]) => id);
}

/** Whether a word is the head of known ids (`A3-3.2` of `A3-3.2-6`): it names a section and proves nothing. */
export function isSection(word: string, known: Iterable<string>): boolean {
  for (const id of known) if (id.startsWith(`${word}-`)) return true;
  return false;
}

/**
 * The titles of a test file: first arguments of `it`, `test` and `describe`, also behind `.each(…)`. Where a title is put
 * together at run time (a table of cases), the strings of that file which start with an id stand for the titles.
 */
export function titlesOf(program: SyntaxNode): string[] {
  const titles: string[] = [];
  const strings: string[] = [];
  let computed = false;
  walk(program, (node) => {
    const literal = literalText(node);
    if (literal !== null) strings.push(literal);
    if (node.type !== 'CallExpression' || !isTestCall(node.callee)) return undefined;
    const first = Array.isArray(node.arguments) ? node.arguments.find(isNode) : undefined;
    const title = literalText(first);
    if (title !== null) titles.push(title);
    if (title === null || /[$%]/.test(title)) computed = true;
    if (title === null && first?.type === 'TemplateLiteral') titles.push(...templateParts(first));
    return undefined;
  });
  return computed ? [...titles, ...strings.filter((text) => !titles.includes(text) && text.search(ID) === 0)] : titles;
}

function isTestCall(callee: unknown): boolean {
  if (!isNode(callee)) return false;
  if (callee.type === 'Identifier') return ['it', 'test', 'describe'].includes(String(callee.name));
  if (callee.type === 'MemberExpression') return isTestCall(callee.object);
  if (callee.type === 'CallExpression')
    return isNode(callee.callee) && callee.callee.type === 'MemberExpression' && isTestCall(callee.callee);
  return callee.type === 'TaggedTemplateExpression' && isTestCall(callee.tag);
}

function linesOf(file: URL): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}
