// Writes the reference of the entry points of the package into `apps/site/reference/api/`, from the doc comments of the code.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application, Comment, ReflectionKind } from 'typedoc';
import { exportsOf } from '../../test/architecture/exports.ts';
import { anchorsOf, apiIndex, entryComment, missingNames, plainPage, withAnchors } from './api.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const OUT = fileURLToPath(new URL('reference/api/', import.meta.url));

const { name: PACKAGE, exports } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8'));

/** The entry points: the name of the page, what applications import, the source. */
const entries = Object.entries(exports).flatMap(([subpath, target]) => {
  if (typeof target === 'string') return [];
  const page = subpath === '.' ? 'runtime' : subpath.slice('./'.length);
  const source = target.types.replace('./dist/', '').replace(/\.d\.ts$/, '.ts');
  const comment = entryComment(readFileSync(`${ROOT}${source}`, 'utf8'));
  return [{ page, imported: subpath === '.' ? PACKAGE : `${PACKAGE}/${page}`, source, comment }];
});

const app = await Application.bootstrapWithPlugins({
  entryPoints: entries.map(({ source }) => `${ROOT}${source}`),
  tsconfig: `${ROOT}tsconfig.json`,
  name: PACKAGE,
  plugin: ['typedoc-plugin-markdown'],
  router: 'module',
  outputs: [{ name: 'markdown', path: OUT }],
  logLevel: 'Warn',
  // The build of the package checks the types, with another version of the compiler.
  skipErrorChecking: true,
  excludePrivate: true,
  excludeExternals: true,
  disableSources: true,
  readme: 'none',
  sort: ['alphabetical'],
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  parametersFormat: 'table',
  pageTitleTemplates: {
    index: 'Library',
    module: ({ name }) => entries.find(({ page }) => page === name)?.imported ?? name,
  },
});
const project = await app.convert();
if (project?.children === undefined) throw new Error('typedoc cannot read the code');
// TypeDoc gives a module the path of its source below the folder that all have in common.
for (const module of project.children) {
  const entry = entries.find(({ source }) =>
    [`/${module.name}.ts`, `/${module.name}/index.ts`].some((end) => source.endsWith(end)),
  );
  if (entry === undefined) throw new Error(`${module.name} is not an entry point`);
  module.name = entry.page;
  module.comment = new Comment([{ kind: 'text', text: entry.comment }]);
}
// A parameter that is taken apart has no name of its own.
for (const parameter of project.getReflectionsByKind(ReflectionKind.Parameter))
  if (parameter.name === '__namedParameters') parameter.name = 'options';

rmSync(OUT, { recursive: true, force: true });
mkdirSync(OUT, { recursive: true });
await app.generateOutputs(project);
writeFileSync(`${OUT}index.md`, apiIndex(entries));
const pages = new Map(entries.map(({ page }) => [`${page}.md`, plainPage(readFileSync(`${OUT}${page}.md`, 'utf8'))]));
const anchors = new Map([...pages].map(([file, text]) => [file, anchorsOf(text)]));
for (const [file, text] of pages) writeFileSync(`${OUT}${file}`, withAnchors(file, text, anchors));
for (const { page, source } of entries) {
  const missing = missingNames(pages.get(`${page}.md`) ?? '', [...exportsOf(source).keys()]);
  if (missing.length > 0) throw new Error(`the page of ${page} lacks ${missing.join(', ')}`);
}
