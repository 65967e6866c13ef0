import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** The folder of the package that a module belongs to; null for a module of this repository. */
function packageOf(id: string): string | null {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id.replaceAll('\\', '/'))?.[0] ?? null;
}

/** The licence files of a package, as quoted blocks; a text that an earlier package has is not repeated. */
function noticeOf(folder: string, written: Map<string, string>): string {
  const { name, version, license }: Readonly<Record<string, string>> = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  );
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  const texts = files.map((file) => {
    const text = readFileSync(join(folder, file), 'utf8').trim();
    const earlier = written.get(text);
    written.set(text, earlier ?? `${name}`);
    return earlier === undefined ? `\`\`\`text\n${text}\n\`\`\`` : `The same text as that of ${earlier}.`;
  });
  return `## ${name} ${version} (${license})\n\n${texts.length === 0 ? 'The package contains no licence file.' : texts.join('\n\n')}\n`;
}

/** Writes the licences of the packages whose code is in the bundle beside it. */
export function notices(): Plugin {
  return {
    name: 'notices',
    generateBundle(_, bundle) {
      const modules = Object.values(bundle).flatMap((file) => (file.type === 'chunk' ? Object.keys(file.modules) : []));
      // The style sheet of a package belongs to a package whose code is here too.
      const folders = new Set(modules.flatMap((id) => packageOf(id) ?? []));
      const head = '# Third-party notices\n\nThe page of `neuroscript ui` contains code of these packages.\n';
      const written = new Map<string, string>();
      const source = [head, ...[...folders].sort().map((folder) => noticeOf(folder, written))].join('\n');
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-NOTICES.md', source });
    },
  };
}
