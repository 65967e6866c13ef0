// Packs the extension: bundles the client of the protocol and the server, each into one file, and writes neuroscript-VERSION.vsix
// beside this file.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));

async function bundle(input, output, options) {
  const build = await rolldown({ input: here(input), platform: 'node', ...options });
  await build.write({ ...output, minify: true });
  await build.close();
}

await bundle('vscode/extension.js', { file: here('vscode/extension.cjs'), format: 'cjs' }, { external: ['vscode'] });
// Of the flags the server knows only --tools and --policy, so it never connects to MCP servers.
await bundle(
  'server.ts',
  { file: here('vscode/server.mjs'), format: 'esm', codeSplitting: false },
  { external: [/\/mcp\/index\.ts$/, 'pg', 'postgres'] },
);
const vsce = here('node_modules/.bin/vsce');
execFileSync(vsce, ['package', '--no-dependencies', '--skip-license', '--allow-missing-repository', '--out', here('.')], {
  cwd: here('vscode'),
  stdio: 'inherit',
});
