/**
 * Makes a built site independent of the path it is served from. VitePress writes one absolute base into every file and supports
 * no relative one, so the site is built for a base that does not exist, which is replaced here: in pages and style sheets by a
 * relative path, in scripts by a variable that each page sets before they run.
 */
import { parseAst } from 'rolldown/parseAst';

/** The base that the site is built for. */
export const BASE = '/__base__/';

/** The text of a built file, `path` from the root of the site, without the base. */
export function portable(path: string, text: string): string {
  if (path.endsWith('.html')) return page(path, text);
  if (path.endsWith('.css')) return text.replaceAll(BASE, rootFrom(path));
  if (path.endsWith('.js') && text.includes(BASE)) return script(text);
  return text;
}

/** A script whose texts have the variable in the place of the base, also where the base stands in the middle of a text. */
function script(text: string): string {
  const changes: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const { type, start, end }: Readonly<Record<string, unknown>> = { ...value };
    if ((type === 'Literal' || type === 'TemplateElement') && typeof start === 'number' && typeof end === 'number') {
      const source = text.slice(start, end);
      const quote = source[0] ?? '';
      const [before, after] = type === 'Literal' ? [`${quote}+__base__+${quote}`, `(${source})`] : [`\${__base__}`, source];
      if (source.includes(BASE)) changes.push({ start, end, text: after.replaceAll(BASE, before) });
    }
    for (const child of Object.values(value)) visit(child);
  };
  visit(parseAst(text));
  return changes
    .toSorted((a, b) => b.start - a.start)
    .reduce((made, { start, end, text: now }) => made.slice(0, start) + now + made.slice(end), text);
}

/** The root of the site as a relative path from a file. */
function rootFrom(path: string): string {
  return '../'.repeat(path.split('/').length - 1) || './';
}

/**
 * The links become absolute before the scripts start: they stay on the page when the scripts change its address, and a relative
 * link would then lead elsewhere.
 */
function page(path: string, html: string): string {
  const root = rootFrom(path);
  const set = `<script>__base__=new URL("${root}",location).pathname</script>`;
  const absolute = `<script>document.querySelectorAll('a[href^="."]').forEach(a=>a.setAttribute("href",a.href))</script>`;
  return html
    .replace(/\\"base\\":\\"\/__base__\/\\"/, '\\"base\\":\\""+__base__+"\\"')
    .replaceAll(BASE, root)
    .replace('<head>', `<head>\n    ${set}`)
    .replace('</body>', `${absolute}\n  </body>`);
}
