import { Histogram, type Host, type Metrics, type SessionCoordinator, type SessionStore } from '../../loop/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { gauges } from './gauges.ts';
import type { Health } from './readiness.ts';

export interface Scraped {
  readonly host: Pick<Host, 'state'>;
  readonly coordinator: Pick<SessionCoordinator, 'leasesLost'>;
  readonly metrics: Metrics;
  readonly storeSeconds: Histogram;
  readonly health: Health;
  readonly runtimes: readonly Runtime[];
  readonly toolServersAway: number;
}

/** The metrics of a host in the Prometheus text format. `now` is Unix milliseconds. */
export async function scrape(
  { host, coordinator, metrics, storeSeconds, health, runtimes, toolServersAway }: Scraped,
  now: number,
): Promise<string> {
  for (const runtime of runtimes) metrics.seeRuntime(runtime);
  const [parts, census] = await Promise.all([health.parts(), health.census()]);
  const { leasesLost } = coordinator;
  const view = { state: host.state, leasesLost, runtimes, toolServersAway, census, parts, now };
  return `${metrics.prometheus()}${storeSeconds.prometheus()}${gauges(view)}`;
}

/** Counts the time of the requests to a store. */
export const storeHistogram = (): Histogram =>
  new Histogram('neuroscript_store_seconds', 'Time of a request to the store.', 'request');

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
