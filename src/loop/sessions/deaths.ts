import type { Death, KnownHost } from './fleet.ts';
import type { StartedTurn } from './store.ts';

/**
 * The attempts at a turn that count, for the process `own`. A process may have lost the session because the store did not answer, and then no
 * host has said for a while that it lives. So the store keeps who may have died, and those that have said since that they live do not count.
 */
export function deathsOf(
  { runner, failed = false, deaths = [] }: Pick<StartedTurn, 'runner' | 'failed' | 'deaths'>,
  own: string,
  hosts: readonly KnownHost[],
): readonly Death[] {
  const lives = (instance: string | null, since: number): boolean =>
    instance === own || hosts.some((host) => host.instance === instance && host.until > since);
  const dead = deaths.filter(({ instance, until }) => !lives(instance, until));
  if (runner === null) return dead;
  const host = hosts.find(({ instance }) => instance === runner);
  if (runner !== own && host?.lives !== true) return [...dead, { instance: runner, until: host?.until ?? 0 }];
  return failed ? [...dead, { instance: null, until: 0 }] : dead;
}
