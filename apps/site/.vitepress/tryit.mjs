import { existsSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { ROOT } from '../pages.ts';

/** Whether the playground is built, which the site then brings along. */
const PLAYGROUND = existsSync(`${ROOT}/apps/playground/dist/index.html`);

/** Puts a link to the playground below every program of a page. */
export function tryIt(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const html = fence(tokens, index, ...rest);
    const { info, content } = tokens[index];
    if (!PLAYGROUND || !/^(?:ns|neuroscript)\b/.test(info)) return html;
    return `${html}<p class="try"><a href="/__base__/playground/index.html${fragment(content)}" target="_blank" rel="noopener">Try it</a></p>`;
  };
}

/** As `apps/playground/src/share.ts` reads it. An example without blocks of its own is the body of a procedure. */
function fragment(example) {
  const whole = /^\s*(?:func|command|on event|::)/m.test(example);
  const source = whole ? example : `func main() means\n${example.replace(/^(?=.)/gm, '  ')}endfunc\n`;
  return `#1.${deflateRawSync(JSON.stringify({ source, tools: '' })).toString('base64url')}`;
}
