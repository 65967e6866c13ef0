import { hash } from 'node:crypto';
import { ConfigError } from '../wire/errors.ts';
import type { Assets } from './assets.ts';
import type { TextSizes } from './texts.ts';
import type { SnapshotView } from './views.ts';

/** Sizes of the texts of a file, which has no server for the rest. */
export const FILE_SIZES: TextSizes = { each: 1_000_000, all: 32_000_000, least: 2000 };

/** The elements that the build writes. */
const SCRIPT = /<script type="module" crossorigin src="\.\/(assets\/[\w.-]+)"><\/script>/;
const STYLE = /<link rel="stylesheet" crossorigin href="\.\/(assets\/[\w.-]+)">/;

/**
 * The page with a session in it, as one file that needs no server and no network. Its policy lets only the page's own script and style run,
 * by their hashes; the session is JSON in an element that no browser executes. Throws {@link ConfigError} for a page of another form.
 */
export function snapshotHtml(assets: Assets, snapshot: SnapshotView): string {
  const page = textOf(assets, 'index.html');
  // In a script no text may look like its end.
  const script = textOf(assets, SCRIPT.exec(page)?.[1]).replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
  const style = textOf(assets, STYLE.exec(page)?.[1]);
  if (style.includes('</style')) throw new ConfigError('the style of the inspector cannot stand in a page');
  const policy = `default-src 'none'; script-src '${digest(script)}'; style-src '${digest(style)}'; img-src data:; base-uri 'none'; form-action 'none'`;
  const head = `<meta http-equiv="content-security-policy" content="${policy}">`;
  const data = `<script type="application/json" id="snapshot">${inert(JSON.stringify(snapshot))}</script>`;
  // Replacement functions, because the texts may contain what a replacement string would read.
  return page
    .replace(STYLE, () => `<style>${style}</style>`)
    .replace(SCRIPT, () => '')
    .replace('<head>', () => `<head>${head}`)
    .replace('</body>', () => `${data}<script type="module">${script}</script></body>`);
}

/** JSON that contains nothing which HTML, or a reader of the file, would take for more than text. */
function inert(json: string): string {
  return json.replace(/[<>&\p{C}\p{Zl}\p{Zp}]/gu, (char) =>
    [...Array(char.length).keys()].map((at) => `\\u${char.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  );
}

function digest(text: string): string {
  return `sha256-${hash('sha256', text, 'base64')}`;
}

function textOf(assets: Assets, path: string | undefined): string {
  const asset = path === undefined ? undefined : assets.get(path);
  if (asset === undefined) throw new ConfigError('the built page of the inspector is incomplete');
  return asset.bytes.toString();
}
