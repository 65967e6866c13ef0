/** Paths and anchors of the relative links of a page; the path is empty for a heading of the page itself. */
export function linksOf(markdown: string): [path: string, anchor: string][] {
  const prose = markdown.replace(/^(`{3,}).*\n[\s\S]*?^\1$/gm, '').replace(/`[^`\n]*`/g, (code) => code.replaceAll('](', '] ('));
  return [...prose.matchAll(/\]\((?![a-z]+:)([^)#\s]*)#?([^)\s]*)\)/g)].map(([, path = '', anchor = '']) => [path, anchor]);
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
