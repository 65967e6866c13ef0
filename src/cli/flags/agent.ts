import { basename, isAbsolute } from 'node:path';
import type { Command } from 'commander';
import {
  type Agent,
  type AgentBrief,
  agentBrief,
  commandAgent,
  type GrammarServer,
  type ModelAgentOptions,
  openaiAgent,
  scriptAgent,
  scriptV1Agent,
  transcribed,
  v1SystemPrompt,
} from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { PolicyGuard, toolGrammar } from '../../tools/index.ts';
import { UsageError } from '../terminal/failure.ts';
import { mustAppend, readText } from '../terminal/input.ts';
import { appendWhole } from '../terminal/write.ts';
import { configText } from './configfile.ts';
import { named, type Setup } from './setup.ts';

/** How the agent is chosen: by flags, and by keys of a configuration. */
export interface AgentOptions {
  readonly agent?: string | undefined;
  readonly baseUrl?: string;
  readonly apiKeyEnv?: string;
  readonly apiKeyFile?: string;
  readonly replyTimeout?: number;
  readonly retries?: number;
  /** What tokens of a model cost. */
  readonly cost?: ModelAgentOptions['cost'];
  readonly grammar?: GrammarServer;
  readonly smallGrammar?: boolean;
  readonly system?: string | undefined;
  readonly transcript?: string;
}

export const AGENT_HELP = `
Agents:
  script:FILE  plays a transcript: one envelope a turn, with any prose around it
  command:CMD  runs CMD for every turn: the prompt on its standard input, the
               reply on its standard output. No shell reads CMD; quotes keep
               words together: --agent 'command:llm -m "my model"'
  model:NAME   asks a model behind an OpenAI-compatible server:
               --base-url http://127.0.0.1:11434/v1
`;

/** Adds the flags that choose an agent. The rarer settings are keys of a configuration alone. */
export function addAgent(command: Command): void {
  command
    .option('--agent <AGENT>', 'who writes the programs: script:FILE, command:CMD or model:NAME')
    .option('--base-url <URL>', "model: where the server's API begins, such as http://127.0.0.1:11434/v1")
    .option('--api-key-env <VAR>', 'model: environment variable with the API key')
    .option('--system <FILE>', "instructions for the agent (default: rules, tools, language; 'none': no instructions)");
}

/** The agent that the settings name. Throws {@link UsageError} for wrong ones, and where none is named. */
export async function readAgent(flags: AgentOptions, profile: 'v3' | 'v1' = 'v3'): Promise<Agent> {
  if (flags.agent === undefined)
    throw new UsageError("needs an agent (script:FILE, command:CMD or model:NAME): --agent, or 'agent' of a configuration");
  const agent = await agentOf(flags, flags.agent, profile);
  return flags.transcript === undefined ? agent : withTranscript(agent, flags.transcript);
}

async function agentOf(flags: AgentOptions, name: string, profile: 'v3' | 'v1'): Promise<Agent> {
  const [, kind, rest = ''] = /^(script|command|model):(.+)$/s.exec(name) ?? [];
  const { replyTimeout: timeoutMs } = flags;
  if (kind !== 'model')
    for (const [flag, value] of Object.entries({
      '--base-url': flags.baseUrl,
      '--api-key-env': flags.apiKeyEnv,
      apiKeyFile: flags.apiKeyFile,
      retries: flags.retries,
      grammar: flags.grammar,
      cost: flags.cost,
    }))
      if (value !== undefined) throw new UsageError(`only an agent model:NAME has ${flag}`);
  if (flags.smallGrammar === true && flags.grammar === undefined) throw new UsageError('smallGrammar needs grammar');
  switch (kind) {
    case 'script':
      return readScript(rest, profile);
    case 'command':
      return named('--agent', () => {
        const argv = words(rest);
        return { ...commandAgent({ argv, timeoutMs }), name: nameOf(argv[0] ?? '') };
      });
    case 'model': {
      const { baseUrl, retries, grammar, cost } = flags;
      if (baseUrl === undefined)
        throw new UsageError('an agent model:NAME needs --base-url (baseUrl), for instance http://127.0.0.1:11434/v1');
      const apiKey = await readKey(flags);
      return named('--agent', () =>
        openaiAgent({
          model: rest,
          baseUrl,
          timeoutMs,
          apiKey: apiKey ?? undefined,
          retry: retries === undefined ? undefined : { retries },
          grammar,
          cost,
        }),
      );
    }
    default:
      throw new UsageError(`unknown agent '${printable(name)}'; write script:FILE, command:CMD or model:NAME`);
  }
}

/** What records, spans and lists call the agent of a file: no absolute path, which a configuration makes of a relative one. */
const nameOf = (file: string): string => (isAbsolute(file) ? basename(file) : file);

/** Maximum bytes of an agent's transcript. */
export const TRANSCRIPT_BYTES = 16 * 1024 * 1024;

async function readScript(file: string, profile: 'v3' | 'v1'): Promise<Agent> {
  const transcript = await readText(file, TRANSCRIPT_BYTES, 'a transcript');
  return named(file, () => (profile === 'v1' ? scriptV1Agent : scriptAgent)(transcript, nameOf(file)));
}

/** The key of a model's server. It is never an argument, because other users of the machine can read arguments. */
async function readKey({ apiKeyEnv, apiKeyFile }: AgentOptions): Promise<string | null> {
  if (apiKeyEnv !== undefined && apiKeyFile !== undefined)
    throw new UsageError('apiKeyEnv (--api-key-env) and apiKeyFile cannot be combined');
  if (apiKeyFile !== undefined) return keyFrom(apiKeyFile, (await configText(apiKeyFile)).trim());
  if (apiKeyEnv === undefined) return null;
  return keyFrom(`the environment variable ${apiKeyEnv}`, process.env[apiKeyEnv]?.trim() ?? '');
}

function keyFrom(place: string, key: string): string {
  if (key === '') throw new UsageError(`${printable(place)} holds no key`);
  return key;
}

/** Splits a command into words at blanks; single and double quotes keep a word together. No other character is special. */
export function words(text: string): string[] {
  const found: string[] = [];
  let word: string | null = null;
  let quote = '';
  for (const char of text) {
    if (quote !== '') {
      if (char === quote) quote = '';
      else word += char;
    } else if (char === '"' || char === "'") {
      quote = char;
      word ??= '';
    } else if (/\s/.test(char)) {
      if (word !== null) found.push(word);
      word = null;
    } else word = (word ?? '') + char;
  }
  if (quote !== '') throw new UsageError(`the command of --agent has a quote ${quote} that is not closed`);
  return word === null ? found : [...found, word];
}

function withTranscript(agent: Agent, file: string): Agent {
  mustAppend(file);
  return transcribed(agent, async (record) => appendWhole(file, `${JSON.stringify(record)}\n`));
}

/** The agent's instructions: the text of a file, or the rules, the language, the tools that the policy allows, and loaded procedures. */
export async function systemOf(
  flags: AgentOptions,
  setup: Setup,
  profile: 'v3' | 'v1',
  library: AgentBrief['library'] = [],
): Promise<string> {
  if (flags.system === 'none') return '';
  if (flags.system !== undefined) return configText(flags.system);
  const guard = new PolicyGuard(setup.policy);
  const tools = setup.tools.filter((tool) => guard.denial(tool, false) === null);
  const small = flags.smallGrammar === true;
  const brief: AgentBrief =
    profile === 'v1' ? { tools, small, rules: v1SystemPrompt(), procedures: true } : { tools, small, library };
  return agentBrief(brief);
}

/** The grammar of a reply, for an agent whose settings name one. */
export function grammarOf({ grammar, smallGrammar = false }: AgentOptions, { tools, policy }: Setup): string | undefined {
  return grammar && toolGrammar(tools, { policy, of: 'turn', small: smallGrammar });
}
