import type { Histogram, SessionStore } from '../../loop/index.ts';

/** The requests whose time is measured, each by its name. */
const REQUESTS: readonly (keyof SessionStore)[] = ['next', 'claim', 'start', 'keep', 'commit', 'logged', 'renew', 'release'];

/** A store that counts how long its requests take, also those that fail. */
export function timedStore<Store extends SessionStore>(store: Store, seconds: Histogram): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const isTimed = REQUESTS.some((each) => each === name);
      if (!isTimed) return value.bind(target);
      return async (...given: unknown[]): Promise<unknown> => {
        const begun = performance.now();
        try {
          return await Reflect.apply(value, target, given);
        } finally {
          seconds.observe(performance.now() - begun, String(name));
        }
      };
    },
  });
}
