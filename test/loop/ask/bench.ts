import { type AgentModelFields, AgentModelStore, createStores } from '../../../src/context/index.ts';
import {
  type Agent,
  type AskHandlerOptions,
  askHandler,
  functionAgent,
  LoopController,
  type LoopControllerOptions,
  MemoryStore,
  runtimeExecutor,
  type SessionStore,
  systemClock,
} from '../../../src/loop/index.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/index.ts';
import type { RunResult } from '../../../src/wire/result.ts';
import { newKeyring, reply } from '../../aeiou/kit.ts';

export function envelope(...statements: readonly string[]): string {
  const actions = ['command', ...statements.map((each) => `  ${each}`), 'endcommand'].join('\n');
  return `${reply(actions)}\n`;
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
  /** Of the nested sessions, and of those of {@link loop}. */
  readonly store: SessionStore;
  /** A host loop whose programs can ask the agents. */
  readonly loop: LoopController;
  run(...statements: readonly string[]): Promise<RunResult>;
}

export interface BenchInit {
  /** By the name of the model. */
  readonly agents: Readonly<Record<string, Agent>>;
  readonly models?: Readonly<Record<string, AgentModelFields>>;
  readonly runtime?: RuntimeOptions;
  readonly ask?: Partial<AskHandlerOptions>;
  readonly lib?: string;
  readonly store?: SessionStore;
  readonly loop?: Partial<LoopControllerOptions>;
}

/** A runtime on which a program can ask the given agents. */
export async function askBench(init: BenchInit): Promise<AskBench> {
  const { agents, models = {}, runtime: options = {}, ask = {}, lib, store = new MemoryStore() } = init;
  const keyring = newKeyring('session', systemClock);
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
  const root = runtime.interpreter({ stores });
  if (lib !== undefined) await root.load(lib);
  const loop = new LoopController({ executor: runtimeExecutor(runtime, root), keyring, store, ...init.loop });
  return {
    runtime,
    store,
    loop,
    run: (...statements) =>
      runtime.run(['command', ...statements.map((each) => `  ${each}`), 'endcommand'].join('\n'), {
        stores,
        lib,
      }),
    [Symbol.asyncDispose]: () => runtime.close(),
  };
}
