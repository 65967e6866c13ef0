import type { TurnInit } from '../../context/index.ts';
import { type AskRequest, PAYER } from '../../runtime/index.ts';
import { tighten } from '../../sandbox/index.ts';
import type { PolicyOptions } from '../../tools/index.ts';
import { ASK_DEPTH, ASK_QUOTA, type AskQuota, askDepthOf } from '../quota.ts';
import { protocolSizes, type TurnExecutor, turnFork } from '../turn/executor.ts';

/** When a turn runs again, its `ask` opens another nested session. So nested calls get their keys and their fence from the asking call. */
function asCall({ turn: { origin, turnIndex, fence }, id }: AskRequest): Pick<TurnInit, 'origin' | 'fence'> {
  if (origin === null || turnIndex === null) return {};
  return { origin: `${origin}/${id}`, ...(fence === null ? {} : { fence }) };
}

/**
 * Runs each turn of a nested loop in a fork of the asking run, in a context derived from the asking turn. The turns find its
 * definitions and globals and obey its policies as well as `policy`. Their own asks count against `quota`.
 */
export function askExecutor(request: AskRequest, quota: AskQuota, policy: PolicyOptions | undefined): TurnExecutor {
  const depth = askDepthOf(request.turn) + 1;
  return {
    limits: tighten(request.limits, protocolSizes()),
    context: (init) =>
      request.turn.derive({
        ...init,
        ...asCall(request),
        mayAct: () => request.turn.mayAct() && (init.mayAct?.() ?? true),
        values: { ...init.values, [ASK_DEPTH]: depth, [ASK_QUOTA]: quota, [PAYER]: request.payer },
      }),
    async end(sid) {
      try {
        await request.endSession(sid);
      } catch (error) {
        request.host.logger.error({ error, sid }, 'the resources of a nested session could not be removed');
      }
    },
    fork({ context, tools, limits }) {
      const id = `${context.sessionId}#${context.turnIndex}`;
      const fork = request.fork({ turn: context, tools, limits, id, policy });
      const inner = turnFork(fork);
      return {
        ...inner,
        async execute(run) {
          const sources = [...(await request.definitions()), ...(run.sources ?? [])];
          const globals = { ...request.globals, ...run.globals };
          // The asking run cannot be suspended in the middle of a call.
          return inner.execute({ ...run, sources, globals, mayWait: false });
        },
      };
    },
  };
}
