/** Paths and anchors of the relative links of a page; the path is empty for a heading of the page itself. */
export function linksOf(markdown: string): [path: string, anchor: string][] {
  const prose = markdown.replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '').replace(/`[^`\n]*`/g, (code) => code.replaceAll('](', '] ('));
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)].map(([, path = '', anchor = '']) => [path, anchor]);
}

/** The pages that nothing leads to, by menu or link, from the pages of the menu. `linked` has the pages that each page links to. */
export function orphansOf(menu: readonly string[], linked: ReadonlyMap<string, readonly string[]>): string[] {
  const reached = new Set(menu);
  // A set visits what is added to it on the way.
  for (const page of reached) for (const next of linked.get(page) ?? []) reached.add(next);
  return [...linked.keys()].filter((page) => !reached.has(page));
}

/** The anchors that code hosts give to the headings of a page. */
export function anchorsOf(markdown: string): string[] {
  return [...markdown.matchAll(/^#{1,6} (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-'),
  );
}
