import { createContext } from 'preact';
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { AboutView, ChangeView } from '../../../../src/ui/views.ts';
import type { Source } from './source.ts';

/** What every view may use. */
export interface World {
  readonly source: Source;
  /** Null until the server has said it. */
  readonly about: AboutView | null;
  /** Says a sentence in the page's status line. */
  readonly say: (message: string) => void;
}

const WorldContext = createContext<World | null>(null);
export const WorldProvider = WorldContext.Provider;

export function useWorld(): World {
  const world = useContext(WorldContext);
  if (world === null) throw new Error('a view stands outside of the page');
  return world;
}

/** The answer to a request. The last answer stays while the next one is on its way. */
export interface Answer<Value> {
  readonly value: Value | null;
  readonly problem: string | null;
  readonly reload: () => void;
}

/**
 * Asks when the view appears, when one of `keys` changes, and on `reload`. One request is on its way at a time: a `reload` meanwhile asks
 * once more afterwards, so that answers that take longer than the pause between changes still arrive. The answer to other keys is dropped.
 */
export function useAnswer<Value>(ask: () => Promise<Value>, keys: readonly unknown[]): Answer<Value> {
  const [state, setState] = useState<{ of: string; value: Value | null; problem: string | null }>(NOTHING);
  const of = JSON.stringify(keys);
  const latest = useRef(ask);
  latest.current = ask;
  const run = useRef<() => void>(() => undefined);
  // Before the browser paints: the request should not wait for it.
  useLayoutEffect(() => {
    let dropped = false;
    let busy = false;
    let again = false;
    const start = () => {
      if (busy) {
        again = true;
        return;
      }
      busy = true;
      latest
        .current()
        .then(
          (value) => dropped || setState({ of, value, problem: null }),
          (error: unknown) =>
            dropped || setState((last) => ({ of, value: last.of === of ? last.value : null, problem: messageOf(error) })),
        )
        .finally(() => {
          busy = false;
          if (!again || dropped) return;
          again = false;
          start();
        });
    };
    run.current = start;
    start();
    return () => {
      dropped = true;
    };
  }, [of]);
  const reload = () => run.current();
  return state.of === of ? { ...state, reload } : { value: null, problem: null, reload };
}

const NOTHING = { of: '', value: null, problem: null };

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Least milliseconds between two reactions to changes: a loop decides faster than a reader reads. */
const PAUSE = 250;

/** Calls `react` when something changed that `concerns` the view, at most once in {@link PAUSE} milliseconds. */
export function useChanges(sid: string | null, concerns: (change: ChangeView) => boolean, react: () => void): void {
  const { source } = useWorld();
  const latest = useRef({ concerns, react });
  latest.current = { concerns, react };
  useEffect(() => {
    let timer: number | null = null;
    const stop = source.watch(sid, (change) => {
      if (timer !== null || !latest.current.concerns(change)) return;
      timer = window.setTimeout(() => {
        timer = null;
        latest.current.react();
      }, PAUSE);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, [source, sid]);
}
