import { ConfigError } from '../../wire/errors.ts';
import type { ToolRuntime } from '../define/definition.ts';

/**
 * State for each session of each root interpreter; `init` makes it at the first use. The turns of a session share it. Every `run`,
 * every request of `run --jsonl` and every new session starts with fresh state, even under the id of an ended session. Mock tools keep
 * their sequences and state this way. Throws {@link ConfigError} (`ERR_CONFIG`) when `init` is no function.
 */
export function perSession<T>(init: () => T): (runtime: Pick<ToolRuntime, 'stores' | 'turn' | 'handles'>) => T {
  if (typeof init !== 'function') throw new ConfigError(`perSession takes a function that makes the state, got ${typeof init}`);
  // Readers identify a root interpreter: each root has its own, even if it shares host context and stores with others.
  const roots = new WeakMap<object, WeakMap<object, T>>();
  return (runtime) => {
    const { stores, turn } = runtime;
    let sessions = roots.get(stores);
    if (sessions === undefined) {
      sessions = new WeakMap();
      roots.set(stores, sessions);
    }
    // The handles of a session live exactly as long as the session. Outside of any session the state belongs to the root.
    const owner = turn.sessionId === null ? stores : runtime.handles;
    const known = sessions.get(owner);
    if (known !== undefined) return known;
    const made = init();
    sessions.set(owner, made);
    return made;
  };
}
