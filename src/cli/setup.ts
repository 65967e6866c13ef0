import type { LauncherChoice } from '../sandbox/launcher.ts';
import { loadMockTools, loadPolicy, Policy, type ToolDefinition } from '../tools/index.ts';
import { UsageError } from './failure.ts';
import { readText } from './input.ts';
import { isModule, toolsOfModule } from './module.ts';
import { printable } from './text.ts';

/** Most bytes of a configuration file. */
const CONFIG_BYTES = 4 * 1024 * 1024;

/** The flags that say what programs may call. */
export interface SetupFlags {
  readonly tools?: string;
  readonly policy?: string;
  /** Where the calls that were made are written. */
  readonly record?: string;
  readonly launcher?: LauncherChoice;
}

/** What a command gives to the runtime it makes. */
export interface Setup {
  readonly tools: readonly ToolDefinition[];
  readonly policy: Policy;
  readonly launcher?: LauncherChoice;
}

/**
 * Reads the tools file and the policy file. Without a policy file the local default holds: a program may call the tools
 * that the tools file names and nothing else. Throws {@link UsageError} with the file's name for whatever is wrong in one.
 */
export async function readSetup(flags: SetupFlags): Promise<Setup> {
  const tools = flags.tools === undefined ? [] : await readTools(flags.tools);
  const allowed = { allow: tools.map((tool) => tool.canonicalName), grants: ['*:*:*'] };
  const policy = flags.policy === undefined ? new Policy(allowed) : await readPolicy(flags.policy);
  return { tools, policy, ...(flags.launcher === undefined ? {} : { launcher: flags.launcher }) };
}

/** The tools of a tools file (DESIGN 5), in its order: mocks in YAML or JSON, or a module in TypeScript or JavaScript. */
export async function readTools(name: string): Promise<readonly ToolDefinition[]> {
  if (isModule(name)) return toolsOfModule(name);
  const text = await configText(name);
  return named(name, () => loadMockTools(text, name));
}

async function readPolicy(name: string): Promise<Policy> {
  const text = await configText(name);
  return named(name, () => loadPolicy(text, name));
}

/** The text of a configuration file. Throws {@link UsageError}. */
export function configText(name: string): Promise<string> {
  return readText(name, CONFIG_BYTES, () => {
    throw new UsageError("only a program can be read from standard input ('-')");
  });
}

/** Puts the file's name in front of what is wrong with its content, as a {@link UsageError}. */
export function named<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message.split('\n')[0] ?? '';
    throw new UsageError(message.includes(name) ? printable(message) : printable(`${name}: ${message}`), { cause: error });
  }
}
