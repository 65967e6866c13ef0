/** What is wrong with a built site: links that lead nowhere, and requests to other hosts. */
import { posix } from 'node:path';
import { BASE } from './portable.ts';

/** The files of a site by their paths from its root. The text is empty for files that need not be read. */
export type Files = ReadonlyMap<string, string>;

/** A sentence for each fault. */
export function faultsOf(files: Files): string[] {
  const anchors = new Map([...files].filter(([path]) => path.endsWith('.html')).map(([path, html]) => [path, idsOf(html)]));
  return [...files].flatMap(([path, text]) => {
    const links = path.endsWith('.html') ? brokenLinks(path, text, files, anchors) : [];
    return [...requests(path, text), ...links].map((fault) => `${path}: ${fault}`);
  });
}

const idsOf = (html: string): ReadonlySet<string> => new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id = '']) => id));

/** What a browser loads by itself: links of `head`, scripts, images, style sheets' addresses, imports. Links to follow are none. */
function requests(path: string, text: string): string[] {
  const left = text.includes(BASE) ? [`contains ${BASE}`] : [];
  const loads = [
    /<link\b[^>]*\bhref="([^"]*)"/g,
    /<(?:script|img|iframe|source|video|audio)\b[^>]*\bsrc="([^"]*)"/g,
    /\burl\(\s*["']?([^"')]*)/g,
    /@import\s+["']([^"']*)/g,
    /\b(?:import|fetch|importScripts)\(\s*["'`]([^"'`]*)/g,
    /\bfrom\s*["']([^"']*)["']/g,
  ];
  const parts = path.endsWith('.js') ? loads.slice(2) : path.endsWith('.css') ? loads.slice(2, 4) : loads.slice(0, 3);
  const named = parts.flatMap((pattern) => [...text.matchAll(pattern)].map(([, address = '']) => address));
  const outside = named.filter((address) => /^(?:[a-z]+:)?\/\//i.test(address));
  return [...left, ...outside.map((address) => `loads ${address}`)];
}

function brokenLinks(path: string, html: string, files: Files, anchors: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const links = [...html.matchAll(/<a\b[^>]*\bhref="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
  return [...new Set(links)].flatMap((href) => {
    if (/^[a-z]+:/i.test(href)) return [];
    const [target = '', anchor = ''] = href.split('#').map(decodeURIComponent);
    const joined = target === '' ? path : posix.join(posix.dirname(path), target);
    const file = /(?:^|\/)\.?$/.test(joined) ? posix.join(joined, 'index.html') : joined;
    if (target.startsWith('/') || !files.has(file)) return [`links to ${href}, which is not a file`];
    // The fragment of a link to the playground is a program.
    if (file === 'playground/index.html') return [];
    return anchor === '' || anchors.get(file)?.has(anchor) ? [] : [`links to ${href}, which is not a heading`];
  });
}
