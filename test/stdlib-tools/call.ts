import { SILENT_LOGGER, type Stores } from '../../src/context/index.ts';
import { createRuntime } from '../../src/runtime/index.ts';
import type { LimitOptions } from '../../src/sandbox/index.ts';
import { runScript } from '../../src/testing/index.ts';
import { Policy, type PolicyOptions, type ToolDefinition } from '../../src/tools/index.ts';
import type { RunResult } from '../../src/wire/result.ts';

/** Everything is allowed, and everything granted. */
export const ALL: PolicyOptions = { allow: ['*'], grants: ['*:*:*'] };

/** A program of one command block that emits the value of each expression, and the runs of it in the given sessions. */
export async function emitted(
  tools: readonly ToolDefinition[],
  expressions: readonly string[],
  {
    sessions = ['s'],
    actor,
    policy = ALL,
    clock,
    limits,
    stores = {},
  }: {
    readonly sessions?: readonly (string | null)[];
    readonly actor?: string;
    readonly policy?: PolicyOptions;
    readonly clock?: () => number;
    readonly limits?: LimitOptions;
    readonly stores?: Partial<Stores>;
  } = {},
): Promise<readonly RunResult[]> {
  await using runtime = await createRuntime({ tools, policy: new Policy(policy), concurrency: 1 });
  const root = runtime.interpreter({
    host: { logger: SILENT_LOGGER },
    stores,
    actor: actor === undefined ? undefined : { id: actor },
  });
  const source = ['command', ...expressions.map((each) => `  emit ${each}`), 'endcommand'].join('\n');
  const results: RunResult[] = [];
  for (const sessionId of sessions) {
    using turn = runtime.turn({
      ...(sessionId === null ? {} : { sessionId, turnIndex: 1 }),
      clock,
    });
    results.push(await root.fork({ turn }).execute(source, { limits }));
  }
  return results;
}

/** As {@link emitted} in one session: the values, and the error if there is one. */
export async function values(tools: readonly ToolDefinition[], ...expressions: readonly string[]): Promise<readonly unknown[]> {
  const source = expressions.map((each) => `emit ${each}`).join('\n');
  const run = await runScript(source, { tools, policy: ALL, run: { turn: { sessionId: 's', turnIndex: 1 } } });
  return [...run.values, ...(run.error === null ? [] : [run.error.code])];
}
