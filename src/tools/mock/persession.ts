import { ConfigError } from '../../wire/errors.ts';
import type { ToolRuntime } from '../define/definition.ts';

/**
 * Something that lives as long as one root interpreter, separately for each session on it, and no longer than the session:
 * what `init` makes when it is first asked for. Every `run`, every request of `run --jsonl` and every session starts from
 * the beginning, one that had the id of another, ended one too; the turns of a session share it. The same holds for mock tools, whose sequences and state are kept so. Throws {@link ConfigError}
 * (`ERR_CONFIG`) for what is no function.
 */
export function perSession<T>(init: () => T): (runtime: Pick<ToolRuntime, 'stores' | 'turn' | 'handles'>) => T {
  if (typeof init !== 'function') throw new ConfigError(`perSession takes a function that makes the state, got ${typeof init}`);
  // Every root interpreter has its own readers of its stores, whatever host context and stores it shares with others.
  const roots = new WeakMap<object, WeakMap<object, T>>();
  return (runtime) => {
    const { stores, turn } = runtime;
    let sessions = roots.get(stores);
    if (sessions === undefined) {
      sessions = new WeakMap();
      roots.set(stores, sessions);
    }
    // The handles of a session are there as long as the session is. Outside of any there is nothing but the root.
    const owner = turn.sessionId === null ? stores : runtime.handles;
    const known = sessions.get(owner);
    if (known !== undefined) return known;
    const made = init();
    sessions.set(owner, made);
    return made;
  };
}
