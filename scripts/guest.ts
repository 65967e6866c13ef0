// Bundles the interpreter: one script that every isolate runs, and one for each part that only some programs need (`src/worker/parts.ts`).
// A module that the first script has is in no other: the parts take from `guest.kit` what they use of it.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type InputOptions, type OutputChunk, type OutputOptions, type Plugin, rolldown } from 'rolldown';
import { PART_NAMES, type PartName, partMark } from '../src/worker/parts.ts';

const src = fileURLToPath(new URL('../src/guest', import.meta.url));
const ENTRY = join(src, 'main.ts');
const PARTS: Readonly<Record<PartName, string>> = {
  pure: 'pure/index.ts',
  flow: 'flow/index.ts',
  probe: 'probe.ts',
  together: 'together.ts',
};

/** An import of names from another file, as the bundler writes it. */
const IMPORT = /^import \{([^{}]*)\} from "([^"]+)";$/gm;

/** A class, an object or a variable of a module: if two scripts had it, there would be two. */
const STATE = /^(class|let) |^(var|const) \w+ = (?![\d(])/m;

/** The names that the kit has, and the modules that they are from. */
type Kit = Map<string, string>;

/** Returns the text of `dist/guest.js`. */
export async function bundleGuest(plugins: Plugin[]): Promise<string> {
  const own = new Set(modulesOf(await bundled({ input: ENTRY, plugins }, { format: 'es' })));
  const kit: Kit = new Map();
  const known = new Set<string>();
  let scripts = '';
  for (const name of PART_NAMES) {
    const input = { input: join(src, PARTS[name]), plugins: [elsewhere(own), ...plugins] };
    const part = await bundled(input, { format: 'es' });
    for (const id of modulesOf(part)) {
      if (known.has(id) && STATE.test(part.modules[id]?.code ?? '')) throw new Error(`two parts of the interpreter have ${id}`);
      known.add(id);
    }
    for (const [, names = '', id = ''] of part.code.matchAll(IMPORT)) take(kit, names, id);
    const { code } = await bundled(input, { format: 'iife', name: 'part', minify: true, globals: () => 'guest.kit' });
    scripts += `${partMark(name)}${code}`;
  }
  const whole = await bundled(
    { input: 'whole', plugins: [wholeOf(kit), ...plugins] },
    { format: 'iife', name: 'guest', minify: true },
  );
  const twice = modulesOf(whole).filter((id) => known.has(id));
  if (twice.length > 0) throw new Error(`the interpreter and a part of it have ${twice.join(', ')}`);
  return whole.code + scripts;
}

/** Leaves these modules out of a bundle. */
function elsewhere(modules: ReadonlySet<string>): Plugin {
  return {
    name: 'elsewhere',
    async resolveId(source, importer) {
      const found = importer === undefined ? null : await this.resolve(source, importer, { skipSelf: true });
      return found !== null && modules.has(found.id) ? { id: found.id, external: 'absolute' } : null;
    },
  };
}

function take(kit: Kit, names: string, id: string): void {
  for (const item of names.split(',')) {
    const [name = ''] = item.trim().split(' as ');
    const other = kit.get(name);
    if (other !== undefined && other !== id) throw new Error(`parts of the interpreter take '${name}' from ${other} and ${id}`);
    kit.set(name, id);
  }
}

/** The interpreter with the kit. */
function wholeOf(kit: Kit): Plugin {
  const imports = [...kit].map(([name, id]) => `import { ${name} } from ${JSON.stringify(id)};`);
  const lines = [
    `export { boot } from ${JSON.stringify(ENTRY)};`,
    ...imports,
    `export const kit = { ${[...kit.keys()].join(', ')} };`,
  ];
  return {
    name: 'whole',
    resolveId: (id) => (id === 'whole' ? id : null),
    load: (id) => (id === 'whole' ? lines.join('\n') : null),
  };
}

function modulesOf({ modules }: OutputChunk): string[] {
  return Object.keys(modules).filter((id) => (modules[id]?.renderedLength ?? 0) > 0);
}

async function bundled(input: InputOptions & { readonly plugins: Plugin[] }, output: OutputOptions): Promise<OutputChunk> {
  await using build = await rolldown({ platform: 'neutral', ...input });
  return (await build.generate(output)).output[0];
}
