import { ConfigError } from '../../wire/errors.ts';
import type { ToolRuntime } from '../define.ts';

/**
 * Something that lives as long as one root interpreter, separately for each session on it: what `init` makes when it is
 * first asked for. Every `run`, every request of `run --jsonl` and every session starts from the beginning; the turns of
 * a session share it. The same holds for mock tools, whose sequences and state are kept so. Throws {@link ConfigError}
 * (`ERR_CONFIG`) for what is no function.
 */
export function perSession<T>(init: () => T): (runtime: Pick<ToolRuntime, 'stores' | 'turn'>) => T {
  if (typeof init !== 'function') throw new ConfigError(`perSession takes a function that makes the state, got ${typeof init}`);
  // Every root interpreter has its own readers of its stores, whatever host context and stores it shares with others.
  const roots = new WeakMap<object, Map<string | null, T>>();
  return ({ stores, turn: { sessionId } }) => {
    let sessions = roots.get(stores);
    if (sessions === undefined) {
      sessions = new Map();
      roots.set(stores, sessions);
    }
    const known = sessions.get(sessionId);
    if (known !== undefined) return known;
    const made = init();
    sessions.set(sessionId, made);
    return made;
  };
}
