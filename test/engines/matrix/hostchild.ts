import { Health } from '../../../src/cli/serve/readiness.ts';
import { scrape, storeHistogram, timedStore } from '../../../src/cli/serve/scrape.ts';
import { Host } from '../../../src/loop/index.ts';
import { goOn, plan, reached, tell } from './child.ts';
import type { Asked } from './plan.ts';
import { openRig } from './rig.ts';

/** One host process of the failure matrix. It drains at SIGTERM, and waits at the moment that its plan names. */
await using resources = new AsyncDisposableStack();
/** No row has a turn that its host may not take up in place. */
const apart = async ({ sid }: { readonly sid: string }): Promise<undefined> => {
  tell({ kind: 'error', text: `${sid} needs a process of its own` });
};
const storeSeconds = storeHistogram();
const rig = await openRig(plan, resources, reached, {
  takeApart: plan.isWatched ? apart : undefined,
  timed: (store) => timedStore(store, storeSeconds),
});
const { coordinator, controller, agent, keyring } = rig;
const host = new Host({
  coordinator,
  profiles: { '': { controller, options: () => ({ agent }) } },
  turnsPerClaim: 2,
  pollMs: 50,
  kids: () => keyring.list().map(({ kid }) => kid),
  onError: (error, sid) => tell({ kind: 'error', text: `${sid}: ${error}` }),
});
const scraped = {
  host,
  coordinator,
  metrics: controller.metrics,
  storeSeconds,
  health: new Health({ ...rig, host }),
  runtimes: [rig.runtime],
  toolServersAway: 0,
};
const answer = async (asked: Asked): Promise<void> => {
  if (asked.kind === 'go on') goOn();
  else if (asked.kind === 'scrape') tell({ kind: 'metrics', text: await scrape(scraped, Date.now()) });
  else await controller.complete(asked.sid, asked.call, { result: asked.result });
};
process.on('message', (asked: Asked) => {
  answer(asked).catch((error: unknown) => tell({ kind: 'error', text: `${error}` }));
});
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
host.start();
tell({ kind: 'ready' });
await stopped;
await host.drain(60_000);
process.disconnect?.();
