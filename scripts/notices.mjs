// Writes what the tarball says of its dependencies: sbom.cdx.json (CycloneDX) and THIRD-PARTY-NOTICES.md, with the licence of
// every package that an installation brings or a bundle in dist/ contains. npm runs it before it packs; git ignores both files.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLED } from './bundled.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { name, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// Not `--omit=dev`: npm then leaves out every package that a development dependency needs too.
const shell = process.platform === 'win32';
const full = JSON.parse(execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx'], { cwd: root, encoding: 'utf8', shell }));
const byRef = new Map(full.components.map((component) => [component['bom-ref'], component]));
const needs = new Map(full.dependencies.map(({ ref, dependsOn }) => [ref, dependsOn]));
const own = full.metadata.component['bom-ref'];

/** Whether an installation brings the package, or a bundle contains its code. */
const isBrought = (each) => each in dependencies || BUNDLED.includes(each);
const used = new Set(needs.get(own).filter((ref) => isBrought(byRef.get(ref)?.name)));
for (const ref of used) for (const next of needs.get(ref) ?? []) used.add(next);
// npm calls a bundled package one for development.
const components = [...used].sort().map((ref) => {
  const { scope: _scope, properties: _properties, ...component } = byRef.get(ref);
  return component;
});

// No time and no serial number: the same tree gives the same file.
const { serialNumber: _, metadata, ...rest } = full;
const bill = {
  ...rest,
  metadata: { lifecycles: metadata.lifecycles, tools: metadata.tools, component: { ...metadata.component, name } },
  components,
  dependencies: [own, ...[...used].sort()].map((ref) => ({
    ref,
    dependsOn: needs.get(ref)?.filter((each) => used.has(each)) ?? [],
  })),
};
writeFileSync(join(root, 'sbom.cdx.json'), `${JSON.stringify(bill)}\n`);

/** The first package with each text, by its words. */
const firstWith = new Map();
const notices = components.map((component) => {
  const licence = component.licenses?.map(({ license, expression }) => expression ?? license.id ?? license.name).join(', ');
  return `## ${component.name} ${component.version} (${licence ?? 'no licence named'})\n\n${textOf(component.name)}\n`;
});
const INTRODUCTION = `# Third-party notices

The packages that an installation of ${name} brings. Files in \`dist/\` contain parts of some of them.
`;
writeFileSync(join(root, 'THIRD-PARTY-NOTICES.md'), [INTRODUCTION, ...notices].join('\n'));

/** The licence and notice files of a package, as quoted blocks. A text that another package has, word for word, stands there alone. */
function textOf(packageName) {
  const folder = join(root, 'node_modules', packageName);
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (files.length === 0) return 'The package contains no licence file.';
  return files
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8').trim();
      const words = text.replace(/\s+/g, ' ');
      const first = firstWith.get(words);
      if (first !== undefined) return `Word for word the text of ${first}.`;
      firstWith.set(words, packageName);
      return `\`\`\`text\n${text}\n\`\`\``;
    })
    .join('\n\n');
}
