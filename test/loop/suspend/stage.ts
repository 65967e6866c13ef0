import { generateKeys, keyringFrom } from '../../../src/aeiou/index.ts';
import { LoopController, type LoopControllerOptions, MemoryStore, runtimeExecutor, seededIds } from '../../../src/loop/index.ts';
import { createRuntime, type Interpreter, type Runtime, type RuntimeOptions } from '../../../src/runtime/index.ts';
import { defineTool, type ToolDefinition } from '../../../src/tools/index.ts';
import { reply, TestClock, USERDATA } from '../fake.ts';

/** A tool whose every call waits for a person. */
export function approval(options: { readonly expiresIn?: number; readonly returns?: string } = {}): ToolDefinition {
  const { returns = 'bool', expiresIn } = options;
  return defineTool({
    name: 'tool.human.Approve',
    args: [{ name: 'what', type: 'string' }],
    returns,
    run: ({ what }, runtime) => runtime.pending({ reason: `may I ${what}?`, expiresIn }),
  });
}

/** Counts its calls: a call that is made twice shows. */
export function counter(): { readonly tool: ToolDefinition; readonly calls: number } {
  let calls = 0;
  return {
    tool: defineTool({ name: 'tool.world.Effect', run: () => ++calls }),
    get calls() {
      return calls;
    },
  };
}

export const TURN = `command
  set n = tool.world.Effect()
  emit "before " + n
  set ok = tool.human.Approve("go on")
  emit "approved: " + ok
  emit tool.world.Effect()
  emit tool.aeiou.magic("LOOP", {"action": "done"})
endcommand`;

/** A host with a store that others may share. */
export async function openHost(
  tools: readonly ToolDefinition[],
  {
    runtime: settings = {},
    ...options
  }: Partial<Omit<LoopControllerOptions, 'runtime'>> & { readonly runtime?: RuntimeOptions } = {},
): Promise<
  {
    readonly loop: LoopController;
    readonly clock: TestClock;
    readonly runtime: Runtime;
    readonly root: Interpreter;
  } & AsyncDisposable
> {
  const clock = options.clock instanceof TestClock ? options.clock : new TestClock();
  const runtime = await createRuntime({ tools, policy: { allow: ['*'] }, concurrency: 1, ...settings });
  const root = runtime.interpreter();
  const loop = new LoopController({
    executor: runtimeExecutor(runtime, root),
    keyring: KEYS(clock),
    clock,
    ids: seededIds('suspend'),
    store: new MemoryStore(),
    ...options,
  });
  return { loop, clock, runtime, root, [Symbol.asyncDispose]: () => runtime.close() };
}

/** The keys of the host. */
export const SEEDS = generateKeys('suspend');
const KEYS = (clock: TestClock) => keyringFrom(SEEDS, { clock });

export const agentOf = (...programs: readonly string[]) => ({
  reply: async ({ turn }: { readonly turn: number }) => reply(programs[turn - 1] ?? 'command\nendcommand'),
});

export const SESSION = { userdata: USERDATA, sid: 's' };
