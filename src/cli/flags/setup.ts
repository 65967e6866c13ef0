import type { Command } from 'commander';
import type { McpConfig, McpProgress } from '../../mcp/index.ts';
import { printable } from '../../report/index.ts';
import type { Isolation, LauncherChoice } from '../../sandbox/index.ts';
import { loadMockTools, loadPolicy, Policy, type ToolDefinition } from '../../tools/index.ts';
import { NeuroScriptError } from '../../wire/errors.ts';
import { UsageError } from '../terminal/failure.ts';
import { keepsValues } from '../terminal/result.ts';
import { Steps } from '../terminal/status.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { configText } from './configfile.ts';
import { isModule, toolsOfModule } from './module.ts';
import { addServers, readServers, tokensOfUser } from './servers.ts';
import { policyTools, standardTools } from './standard.ts';

export interface SetupFlags {
  readonly tools?: string | undefined;
  readonly policy?: string | undefined;
  readonly mcp?: readonly string[] | undefined;
  readonly storage?: string;
  /** The file that records the calls. */
  readonly record?: string;
  readonly launcher?: LauncherChoice | undefined;
  readonly isolation?: Isolation | undefined;
}

/** The tools, policy, launcher and isolation of a command's runtime. */
export interface Setup {
  readonly tools: readonly ToolDefinition[];
  readonly policy: Policy;
  readonly launcher?: LauncherChoice | undefined;
  readonly isolation?: Isolation | undefined;
}

/** What a client gives beside the flags: it counts as if flags named it. The policy is null when there is none. */
interface Given {
  readonly tools: readonly ToolDefinition[];
  readonly policy: Policy | null;
  /** Receives each optional server that cannot be used; absent where a warning on standard error is enough. */
  readonly onAway?: (away: AwayServer) => void;
}

export interface AwayServer {
  /** Why. */
  readonly message: string;
  /** Whether it can be used now. */
  isBack(): Promise<boolean>;
}

export const NOTHING: Given = { tools: [], policy: null };

/** Adds the flags of {@link SetupFlags} that every command for running programs has. */
export function addSetup(command: Command): Command {
  return addServers(command.option('--tools <FILE>', 'tools for programs: mocks in YAML or JSON, or a module (.ts, .js)'))
    .option(
      '--storage <FILE>',
      "SQLite file for what tool.memory, tool.scratch and tool.capsule store ('none': memory); also allows these tools",
    )
    .option(
      '--policy <FILE>',
      'policy file (YAML); by default the tools of --tools and --mcp and those without effects are allowed',
    );
}

/**
 * Reads the tools file, the policy file and the servers. Programs see these tools and the standard ones; a tool of a tools file
 * replaces a standard one of the same name. The policy by default allows the tools that flags name, and the standard tools
 * without effects. Closes what it opened with `resources`. Says on `terminal` that it waits for servers. Throws {@link UsageError} with the file's name for a mistake in it.
 */
export async function readSetup(
  flags: SetupFlags,
  resources: AsyncDisposableStack,
  terminal?: Terminal,
  given: Given = NOTHING,
): Promise<Setup> {
  const chosen = [
    ...given.tools,
    ...(flags.tools === undefined ? [] : await readTools(flags.tools)),
    ...(flags.mcp === undefined ? [] : await connect(flags.mcp, resources, terminal, given.onAway)),
  ];
  const taken = new Set(chosen.map((tool) => tool.canonicalName));
  const isFree = (tool: ToolDefinition): boolean => !taken.has(tool.canonicalName);
  const standard = (await usable(() => standardTools(flags.storage, resources))).filter(isFree);
  const harmless = standard.filter(({ effects, requiresTrust }) => effects === 'none' && !requiresTrust);
  // With --storage, programs may use the tools that keep values.
  const keeping = flags.storage === undefined ? [] : standard.filter((tool) => keepsValues(tool.canonicalName));
  const allow = [...chosen, ...harmless, ...keeping].map((tool) => tool.canonicalName);
  const named = flags.policy === undefined ? given.policy : await readPolicy(flags.policy);
  const policy = named ?? new Policy({ allow, grants: ['*:*:*'] });
  return {
    tools: [...chosen, ...standard, ...policyTools(policy).filter(isFree)],
    policy,
    launcher: flags.launcher,
    isolation: flags.isolation,
  };
}

async function connect(
  specs: readonly string[],
  resources: AsyncDisposableStack,
  terminal: Terminal | undefined,
  onAway: Given['onAway'] = ({ message }) =>
    void process.stderr.write(`neuroscript: warning: ${printable(message)}; its tools are absent\n`),
): Promise<readonly ToolDefinition[]> {
  const servers = await readServers(specs);
  // Only --mcp needs the SDK of the protocol, which takes longer to load than everything else.
  const { McpSource } = await import('../../mcp/index.ts');
  const authorize = await tokensOfUser();
  const reports = process.stderr.isTTY ? { onProgress: showProgress() } : {};
  using _ = terminal === undefined ? null : new Steps(terminal, `waiting for ${Object.keys(servers).join(', ')}`);
  const source = resources.use(await usable(() => McpSource.connect(servers, { authorize, ...reports })));
  for (const { server, error } of source.failures) {
    const alone = { [server]: { ...servers[server], optional: true } } as McpConfig;
    const isBack = async (): Promise<boolean> => {
      await using again = await McpSource.connect(alone, { authorize });
      return again.failures.length === 0;
    };
    onAway({ message: error.message, isBack });
  }
  return source.tools;
}

/** Shows on a terminal what servers report about calls that take long, at most a line a second for each tool. */
function showProgress(): (progress: McpProgress) => void {
  const shown = new Map<string, number>();
  return ({ server, tool, progress, total, message }) => {
    const key = `${server}.${tool}`;
    if (performance.now() - (shown.get(key) ?? Number.NEGATIVE_INFINITY) < 1000) return;
    shown.set(key, performance.now());
    const words = [`${key}:`, total === null ? `${progress}` : `${progress} of ${total}`, message].join(' ');
    process.stderr.write(`${printable(words.trimEnd())}\n`);
  };
}

/** Opens a store or a server that a flag names; what makes it unusable becomes a {@link UsageError}. */
export async function usable<Result>(open: () => Promise<Result>): Promise<Result> {
  try {
    return await open();
  } catch (error) {
    if (error instanceof NeuroScriptError && UNUSABLE.includes(error.code))
      throw new UsageError(printable(error.message), { cause: error });
    throw error;
  }
}

const UNUSABLE: readonly string[] = ['ERR_MCP', 'ERR_STORE'];

/** The tools of a tools file: mocks in YAML or JSON, or a module in TypeScript or JavaScript. */
export async function readTools(name: string): Promise<readonly ToolDefinition[]> {
  if (isModule(name)) return toolsOfModule(name);
  const text = await configText(name);
  return named(name, () => loadMockTools(text, name));
}

export async function readPolicy(name: string): Promise<Policy> {
  const text = await configText(name);
  return named(name, () => loadPolicy(text, name));
}

/** Turns an error about a file's content into a {@link UsageError} that names the file. */
export function named<Result>(name: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = error.message.split('\n')[0] ?? '';
    throw new UsageError(message.includes(name) ? printable(message) : printable(`${name}: ${message}`), { cause: error });
  }
}
