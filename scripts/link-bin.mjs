// Links node_modules/.bin/neuroscript to this checkout's own command, so that `npx neuroscript` runs it. npm does that
// only for dependencies, and an `npx neuroscript` that finds no link would go looking on the registry instead.
import { chmodSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules', '.bin');
const link = join(folder, 'neuroscript');

mkdirSync(folder, { recursive: true });
for (const path of [link, `${link}.cmd`]) if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path);
if (process.platform === 'win32') {
  writeFileSync(`${link}.cmd`, `@"%~dp0\\..\\..\\node_modules\\.bin\\node.exe" "%~dp0\\..\\..\\bin\\neuroscript.js" %*\r\n`);
} else {
  chmodSync(join(root, 'bin', 'neuroscript.js'), 0o755);
  symlinkSync('../../bin/neuroscript.js', link);
}
