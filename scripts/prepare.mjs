// npm runs this after `npm ci` in a checkout: links node_modules/.bin/neuroscript to the checkout's own command, as npm does for
// dependencies only, and builds. `npx neuroscript` in a checkout links the checkout into npm's cache before its first run, and
// runs this again; a build that is there stays.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = join(root, 'node_modules', '.bin');
const link = join(folder, 'neuroscript');

if (process.env.npm_command !== 'exec' || !existsSync(join(root, 'dist', 'cli.js'))) {
  mkdirSync(folder, { recursive: true });
  for (const path of [link, `${link}.cmd`]) if (lstatSync(path, { throwIfNoEntry: false })) rmSync(path);
  if (process.platform === 'win32') {
    writeFileSync(`${link}.cmd`, `@"%~dp0\\..\\..\\node_modules\\.bin\\node.exe" "%~dp0\\..\\..\\bin\\neuroscript.js" %*\r\n`);
  } else {
    chmodSync(join(root, 'bin', 'neuroscript.js'), 0o755);
    symlinkSync('../../bin/neuroscript.js', link);
  }
  const { status } = spawnSync(process.execPath, [join(root, 'scripts', 'build.mjs')], { cwd: root, stdio: 'inherit' });
  process.exitCode = status ?? 1;
}
