/** The reference of the library: what its pages need beside what TypeDoc writes. */
import { slugify } from './slug.ts';

/** An entry point of the package and its page. */
export interface Entry {
  readonly page: string;
  /** What applications import. */
  readonly imported: string;
  readonly comment: string;
}

/** What an entry point holds, by the comment at the top of its source, without the sentence that names it. */
export function entryComment(source: string): string {
  const [, comment = ''] = /^\/\*\*([\s\S]*?)\*\//.exec(source) ?? [];
  const words = comment.replace(/^\s*\*/gm, '').replace(/\s+/g, ' ');
  return words
    .replace(/ Entry point `[^`]*`\.?/, '')
    .replace(/\{@link (\w+)\}/g, '`$1`')
    .trim();
}

/** The page that lists the entry points. */
export function apiIndex(entries: readonly Entry[]): string {
  const rows = entries.map(({ page, imported, comment }) => `| [\`${imported}\`](${page}.md) | ${comment} |`);
  const words = 'Every public name of every entry point, from the doc comments of the code.';
  return `${['# Library', words, ['| entry point | holds |', '| --- | --- |', ...rows].join('\n')].join('\n\n')}\n`;
}

/** A page without HTML: anchors within tables, and the links to them, which keep their text. */
export function plainPage(page: string): string {
  return page
    .replace(/<a id="[^"]*"><\/a> ?/g, '')
    .replace(/\[((?:[^[\]]|\[[^[\]]*\])*)\]\([^()\s]*#(?:property|type-parameter)-[^()\s]*\)/g, '$1');
}

/** The headings of a page in their order: the name at the beginning of each, and whether it is that of a public name. */
function headingsOf(page: string): { readonly name: string; readonly title: string; readonly isPublic: boolean }[] {
  return [...page.matchAll(/^(#+) (.*)$/gm)].map(([, marks = '', text = '']) => {
    const title = text.replaceAll('\\', '').replaceAll('`', '');
    const [name = ''] = /^[\w$]+/.exec(title) ?? [];
    return { name, title, isPublic: marks === '###' };
  });
}

/** The anchors of the public names of a page, as the site gives them. Two names that differ only in their case share a word. */
export function anchorsOf(page: string): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  const anchors = new Map<string, string>();
  for (const { name, title, isPublic } of headingsOf(page)) {
    const slug = slugify(title);
    let anchor = slug;
    for (let more = 1; taken.has(anchor); more++) anchor = `${slug}-${more}`;
    taken.add(anchor);
    if (isPublic) anchors.set(name, anchor);
  }
  return anchors;
}

/** A page whose links to public names lead to the anchors of the site. `anchors` has those of each page by its file. */
export function withAnchors(file: string, page: string, anchors: ReadonlyMap<string, ReadonlyMap<string, string>>): string {
  return page.replace(/\[(`?)([\w$]+)\1\]\(([\w-]+\.md)?#[\w-]+\)/g, (link, mark: string, name: string, to?: string) => {
    const anchor = anchors.get(to ?? file)?.get(name);
    return anchor === undefined ? link : `[${mark}${name}${mark}](${to ?? ''}#${anchor})`;
  });
}

/** The names that have no heading of their own on a page. */
export function missingNames(page: string, names: readonly string[]): string[] {
  const headings = new Set(headingsOf(page).flatMap(({ name, isPublic }) => (isPublic ? [name] : [])));
  return names.filter((name) => !headings.has(name));
}
