import { posix } from 'node:path';
import { filesBelow, isNode, literalText, type SourceText, type SyntaxNode, sourceOf, walk } from './source.ts';

export interface Import {
  /** The importing file, relative to the repository. */
  readonly from: string;
  /** The imported file relative to the repository, a package's name, or `node:…`. */
  readonly to: string;
  /** Whether nothing of it is left when the types are stripped. */
  readonly typeOnly: boolean;
  /** Whether it is an `import(…)`, which loads nothing before it runs. */
  readonly later: boolean;
}

/** The parts that rules speak of: a folder of `src`, else the top folder. */
export function partOf(path: string): string {
  const [top = '', second = ''] = path.split('/');
  if (top !== 'src') return top;
  return second;
}

/** Whether an import stays within the repository. */
export function isOurs(target: string): boolean {
  return target.includes('/') && target.endsWith('.ts');
}

/** Every TypeScript file that is shipped or measured. */
export function productFiles(): SourceText[] {
  return ['grammar', 'src', 'stdlib-tools', 'bench'].flatMap((folder) => filesBelow(folder, '.ts')).map(sourceOf);
}

/** The files that are loaded with a file. */
export function loadedWith(path: string, imports: readonly Import[]): ReadonlySet<string> {
  const loaded = new Set([path]);
  for (const file of loaded)
    for (const { from, to, typeOnly, later } of imports) if (from === file && !typeOnly && !later) loaded.add(to);
  return loaded;
}

/** What a computed `import(…)` imports: no rule can judge it, so there is a list of the files that may have one. */
export const COMPUTED = '#computed';

export function importsOf({ path, program }: SourceText): Import[] {
  const found: Import[] = [];
  walk(program, (node) => {
    const source = isNode(node.source) ? node.source : undefined;
    if (!IMPORTING.has(node.type) || source === undefined) return undefined;
    const specifier = literalText(source);
    const to = specifier === null ? COMPUTED : resolve(path, specifier);
    found.push({ from: path, to, typeOnly: isTypeOnly(node), later: node.type === 'ImportExpression' });
    return undefined;
  });
  return found;
}

const IMPORTING = new Set([
  'ImportDeclaration',
  'ExportNamedDeclaration',
  'ExportAllDeclaration',
  'ImportExpression',
  'TSImportType',
]);

function isTypeOnly(node: SyntaxNode): boolean {
  if (node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type') return true;
  const specifiers = Array.isArray(node.specifiers) ? node.specifiers.filter(isNode) : [];
  return specifiers.length > 0 && specifiers.every((each) => each.importKind === 'type' || each.exportKind === 'type');
}

function resolve(from: string, specifier: string): string {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  if (specifier.startsWith('node:') || specifier.startsWith('#')) return specifier;
  const [scope = '', name = ''] = specifier.split('/');
  return scope.startsWith('@') ? `${scope}/${name}` : scope;
}
