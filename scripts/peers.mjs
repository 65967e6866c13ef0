// The packages that only some uses need. Their imports in the source are ordinary ones; in the bundles they load when the module with
// the import does, and a missing one says what to install.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { peerDependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const PEER = fileURLToPath(new URL('../src/files/optionalpackage.ts', import.meta.url));

/** Peers whose modules the source imports. The application hands over the others, or names them. */
const IMPORTED = Object.keys(peerDependencies).filter((name) => !['pg', 'postgres', '@restatedev/restate-sdk'].includes(name));
const path = `((?:${IMPORTED.map((name) => name.replaceAll('/', '\\/')).join('|')})(?:/[\\w/]+)?)`;
const STATIC = new RegExp(`^import \\{([^{}]*)\\} from '${path}';$`, 'gm');
const DYNAMIC = new RegExp(`\\bimport\\('${path}'\\)`, 'g');

/** Packages that a use needs beside the one that it loads first. */
const BESIDE = {
  '@ai-sdk/openai-compatible': ['ai'],
  '@modelcontextprotocol/client': ['@modelcontextprotocol/server'],
  '@modelcontextprotocol/server': ['@modelcontextprotocol/client'],
  'vscode-languageserver': ['vscode-languageserver-textdocument'],
};

function called(module) {
  const name = IMPORTED.filter((each) => module === each || module.startsWith(`${each}/`)).toSorted(
    (a, b) => b.length - a.length,
  )[0];
  const packages = [name, ...(BESIDE[name] ?? [])].map((each) => `${each}@${peerDependencies[each].replace(/^\^(\d+).*/, '$1')}`);
  return `optionalPackage('${module}', '${name}', '${packages.join(' ')}')`;
}

/** Replaces the imports of optional packages in a source file. */
export const peers = {
  name: 'peers',
  transform(code, id) {
    if (!id.endsWith('.ts') || id.includes('node_modules')) return null;
    const replaced = code
      .replace(STATIC, (all, names, module) => {
        const values = names
          .split(',')
          .map((each) => each.trim())
          .filter((each) => each !== '' && !each.startsWith('type '));
        if (values.length === 0) return all;
        // Only types are left, which leave nothing.
        return `const { ${values.join(', ').replaceAll(' as ', ': ')} } = ${called(module)};`;
      })
      .replace(DYNAMIC, (_, module) => called(module));
    return replaced === code ? null : `import { optionalPackage } from ${JSON.stringify(PEER)};\n${replaced}`;
  },
};
