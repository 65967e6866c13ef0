import { generateKeys, keyringFrom } from '../../../src/aeiou/index.ts';
import type { AgentModelFields } from '../../../src/context/index.ts';
import { AgentModelStore, createStores } from '../../../src/context/index.ts';
import {
  type Agent,
  type AskHandlerOptions,
  askHandler,
  functionAgent,
  MemoryStore,
  systemClock,
} from '../../../src/loop/index.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/index.ts';
import type { RunResult } from '../../../src/wire/result.ts';

/** An envelope whose ACTIONS are these statements. */
export function envelope(...statements: readonly string[]): string {
  const actions = ['command', ...statements.map((each) => `  ${each}`), 'endcommand'].join('\n');
  return `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\n${actions}\n<<<NSENV:V3:END>>>\n`;
}

/** The statement that ends a turn with a token. */
export function token(action: 'continue' | 'done' | 'abort', request = '{}'): string {
  return `emit tool.aeiou.magic("LOOP", {"action": "${action}", "request": ${request}})`;
}

/** An agent that gives these replies, turn by turn, and then the last one again. */
export function replies(...texts: readonly string[]): Agent {
  return functionAgent(async ({ turn }) => texts[Math.min(turn, texts.length) - 1] ?? '');
}

export interface AskBench extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly store: MemoryStore;
  /** Runs these statements in a command block. */
  run(...statements: readonly string[]): Promise<RunResult>;
}

export interface BenchInit {
  /** By the name of the model. */
  readonly agents: Readonly<Record<string, Agent>>;
  readonly models?: Readonly<Record<string, AgentModelFields>>;
  readonly runtime?: RuntimeOptions;
  readonly ask?: Partial<AskHandlerOptions>;
  readonly lib?: string;
}

/** A runtime on which a program can ask the given agents. */
export async function askBench({ agents, models = {}, runtime: options = {}, ask = {}, lib }: BenchInit): Promise<AskBench> {
  const store = new MemoryStore();
  const keyring = keyringFrom(generateKeys('session'), { clock: systemClock });
  const handler = askHandler({
    keyring,
    store,
    providers: { test: ({ model }) => agents[model] ?? functionAgent(async () => '') },
    ...ask,
  });
  const runtime = await createRuntime({ concurrency: 1, ask: handler, policy: { allow: ['tool.*'] }, ...options });
  const known = new AgentModelStore();
  for (const name of Object.keys(agents)) known.register(name, { provider: 'test', model: name, ...models[name] });
  const stores = createStores({ models: known });
  return {
    runtime,
    store,
    run: (...statements) =>
      runtime.run(['command', ...statements.map((each) => `  ${each}`), 'endcommand'].join('\n'), {
        stores,
        ...(lib === undefined ? {} : { lib }),
      }),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
