import { hash } from 'node:crypto';
import { printable } from '../wire/text/printable.ts';

/** What all pages look like. */
const COMMON = `
:root{color-scheme:light dark}
body{font:15px/1.45 system-ui,sans-serif;margin:1.5rem auto;padding:0 1rem;max-width:75rem}
table{border-collapse:collapse}
th{border-bottom:1px solid;font-weight:600}
code,.code{font:13px/1.5 ui-monospace,monospace}
`;

/**
 * The beginning of a page up to its heading. The page runs nothing and loads nothing: its policy allows this style alone. `title` is
 * foreign text.
 */
export function pageHead(title: string, style: string): string {
  const all = COMMON + style;
  const policy = `default-src 'none'; style-src 'sha256-${hash('sha256', all, 'base64')}'; base-uri 'none'; form-action 'none'`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width"><title>${foreign(title)}</title><style>${all}</style></head><body>
<h1>${foreign(title)}</h1>
`;
}

export const PAGE_END = '</body></html>\n';

/** Foreign text as text of a page: nothing of it is markup, and nothing of it is invisible. */
export function foreign(text: string): string {
  return escaped(printable(text));
}

/** Printable text as text of a page, or of an attribute in double quotes. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
