/** Judges every regular expression of the product with recheck and writes those that take linear time to test/architecture/regexes.txt. */
import { readFileSync, writeFileSync } from 'node:fs';
import recheck from 'recheck/lib/browser.js';
import { KEPT, regexes } from '../../../test/architecture/regexes.ts';

const LIST = new URL('../../../test/architecture/regexes.txt', import.meta.url);
const TIMEOUT_MS = 15_000;

const known = new Set(readFileSync(LIST, 'utf8').split('\n'));
const safe = [];
for (const [text, places] of regexes()) {
  if (Object.hasOwn(KEPT, text)) continue;
  const end = text.lastIndexOf('/');
  const { status, attack } = known.has(text)
    ? { status: 'safe' }
    : recheck.checkSync(text.slice(1, end), text.slice(end + 1), { timeout: TIMEOUT_MS });
  if (status === 'safe') safe.push(text);
  else {
    process.stderr.write(`${status}  ${text}  ${places.join(' ')}  ${attack?.pattern ?? ''}\n`);
    process.exitCode = 1;
  }
}
writeFileSync(LIST, `${safe.sort().join('\n')}\n`);
