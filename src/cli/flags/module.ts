import { closeSync, fstatSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { extname, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { openOrdinary } from '../../files/ordinary.ts';
import { printable } from '../../report/index.ts';
import { defineTool, loadMockTools, type ToolDefinition, type ToolInit } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { PACKAGE } from '../packagefiles.ts';
import { UsageError } from '../terminal/failure.ts';
import { reading } from '../terminal/input.ts';

const EXTENSIONS = ['.ts', '.mts', '.js', '.mjs'];

/** Whether a tools file is a module: the process executes it. */
export function isModule(name: string): boolean {
  return EXTENSIONS.includes(extname(name));
}

/**
 * The tools of a module: its export `tools`, or its default export. A list holds tools of `defineTool` or their options; a map has
 * the form of a tools file in YAML. The module runs in this process with all its rights, so name only modules that you trust.
 * Throws {@link UsageError}.
 */
export async function toolsOfModule(name: string): Promise<readonly ToolDefinition[]> {
  const found = exportOf(await load(name));
  if (Array.isArray(found)) return found.map((each: unknown, index) => toolOf(name, each, index));
  if (typeof found === 'object' && found !== null) return loadMockTools(JSON.stringify(found, refuseFunctions), name);
  throw new UsageError(`${printable(name)}: export a list of tools as 'tools', or as default`);
}

/** When each module that was loaded had changed last, by its address. */
const loaded = new Map<string, number>();

/** Loads a module; a file that has changed since, anew. What it imports itself is not loaded again. */
async function load(name: string): Promise<object> {
  shareLibrary();
  // Importing waits for the writer of a named pipe.
  const changed = await reading(name, () => {
    const file = openOrdinary(name);
    const { mtimeMs } = fstatSync(file);
    closeSync(file);
    return mtimeMs;
  });
  const { href } = pathToFileURL(resolve(name));
  const first = loaded.get(href) ?? changed;
  loaded.set(href, first);
  try {
    return Object(await import(changed === first ? href : `${href}?changed=${changed}`));
  } catch (error) {
    throw new UsageError(`cannot load ${printable(name)}: ${printable(messageOf(error).split('\n')[0] ?? '')}`, { cause: error });
  }
}

const BUILT = new URL('dist/', PACKAGE);

/**
 * Gives modules that import this package the copy that runs them, wherever they are. Tools and errors of another installation would be
 * unknown to this process, and would see no turn.
 */
function shareLibrary(): void {
  // Tests run the sources; the package's name does not lead to them.
  if (!import.meta.url.startsWith(BUILT.href)) return;
  registerHooks({
    resolve(specifier, context, next) {
      // The package can import itself by its name.
      const own = /^neuroscript-runtime(\/|$)/.test(specifier);
      return next(specifier, own ? { ...context, parentURL: import.meta.url } : context);
    },
  });
}

function exportOf(module: object): unknown {
  if ('tools' in module) return module.tools;
  return 'default' in module ? module.default : undefined;
}

/** A tool, or the options of one, so that a module needs no import of this package. */
function toolOf(name: string, value: unknown, index: number): ToolDefinition {
  if (typeof value !== 'object' || value === null)
    throw new UsageError(`${printable(name)}: item ${index} of the list is not a tool`);
  // The registry checks finished tools; `defineTool` checks options.
  if ('canonicalName' in value) return value as ToolDefinition;
  try {
    return defineTool(value as ToolInit<[]>);
  } catch (cause) {
    if (!(cause instanceof ConfigError)) throw cause;
    throw new UsageError(printable(`${name}: ${cause.message}`), { cause });
  }
}

function refuseFunctions(key: string, value: unknown): unknown {
  if (typeof value !== 'function') return value;
  throw new UsageError(`'${printable(key)}' of a mock is a function; write a tool with 'run' to compute results`);
}
