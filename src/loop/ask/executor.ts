import type { AskRequest } from '../../runtime/index.ts';
import { tighten } from '../../sandbox/limits.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import { protocolSizes, type TurnExecutor, turnFork } from '../turn/executor.ts';
import { ASK_DEPTH, depthOf } from './depth.ts';
import { ASK_PURSE, type Purse } from './purse.ts';

/**
 * Turns of a nested loop: each in a fork of the asking run, in a context derived from the asking one (CTX-3-2, CTX-4-1). They
 * find its definitions and globals, and obey its policies; `policy` holds besides. What they ask in
 * turn takes from `purse`.
 */
export function askExecutor(request: AskRequest, purse: Purse, policy: PolicyOptions | undefined): TurnExecutor {
  const depth = depthOf(request.turn) + 1;
  return {
    limits: tighten(request.limits, protocolSizes()),
    context: (init) => request.turn.derive({ ...init, values: { ...init.values, [ASK_DEPTH]: depth, [ASK_PURSE]: purse } }),
    inspect: (source) => request.inspect(source),
    async end(sid) {
      try {
        await request.endSession(sid);
      } catch (error) {
        request.host.logger.error({ error, sid }, 'what the tools of a nested session kept could not be removed');
      }
    },
    // The loop of this profile has no policy of its own.
    fork({ context, tools, limits }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = request.fork({ turn: context, tools, limits, id, ...(policy === undefined ? {} : { policy }) });
      const inner = turnFork(fork, context);
      return {
        ...inner,
        async execute(execution) {
          const definitions = [...(await request.definitions()), ...(execution.definitions ?? [])];
          const globals = { ...request.globals, ...execution.globals };
          // Nobody keeps a loop whose caller stands still in the middle of a run.
          return inner.execute({ ...execution, definitions, globals, mayWait: false });
        },
      };
    },
  };
}
