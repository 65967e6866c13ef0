// Packs the extension: bundles the client of the protocol into one file, and writes neuroscript-VERSION.vsix beside this file.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const build = await rolldown({ input: here('vscode/extension.js'), platform: 'node', external: ['vscode'] });
await build.write({ file: here('vscode/extension.cjs'), format: 'cjs', minify: true });
await build.close();
const vsce = here('node_modules/.bin/vsce');
execFileSync(vsce, ['package', '--no-dependencies', '--skip-license', '--allow-missing-repository', '--out', here('.')], {
  cwd: here('vscode'),
  stdio: 'inherit',
});
