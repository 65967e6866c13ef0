// Makes one attack on a build that lacks one check, and prints what did not hold as JSON. The first argument is the removal.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Removal } from './removals.ts';

const removal: Removal = JSON.parse(process.argv[2] ?? '');
const path = fileURLToPath(new URL(`../../${removal.file}`, import.meta.url));
const parts = readFileSync(path, 'utf8').split(removal.text);
if (parts.length !== 2) throw new Error(`${removal.file} holds this ${parts.length - 1} times: ${removal.text}`);
const variant = parts.join(removal.without);

// A worker that nothing stops ends with this process, which the test ends after some time.
process.once('SIGTERM', () => process.exit(1));

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    return url === `file://${path}` ? { ...loaded, source: variant } : loaded;
  },
});

const { Sandbox } = await import('../../src/sandbox/index.ts');
const { ATTACKS } = await import('./attacks.ts');
const { assault, FILES } = await import('./harness.ts');
const attack = ATTACKS.find(({ name, by }) => name === removal.attack && by.includes(removal.by));
if (attack === undefined) throw new Error(`there is no attack '${removal.attack}' by a ${removal.by}`);
const folder = mkdtempSync(join(tmpdir(), 'variant-'));
try {
  const worker = join(folder, 'worker.js');
  writeFileSync(worker, variant);
  const files = removal.file.startsWith('dist/') ? { ...FILES[removal.by], worker } : FILES[removal.by];
  await using sandbox = await Sandbox.create({ concurrency: 1, files, launcher: 'none' });
  process.stdout.write(JSON.stringify(await assault(sandbox, removal.by, attack)));
} finally {
  rmSync(folder, { recursive: true });
}
