/** A worker of `bench cluster` that Restate calls, under a name of its own: the owner of its plan. */
import { openFleetDriver } from '../../../bench/fleet.ts';
import { restateSessions } from '../../../src/restate/index.ts';
import { serveObject } from './endpoint.ts';
import { openPlan, plan, stopped, tell } from './fleetchild.ts';

await using resources = new AsyncDisposableStack();
const { agent, ...driver } = await openFleetDriver(await openPlan(resources), resources);
const sessions = await restateSessions({
  ...driver,
  name: plan.owner,
  options: () => ({
    agent,
    onEvent: (event) => {
      if (event.type === 'decided' && event.record.decision !== 'CONTINUE') tell({ kind: 'ended' });
    },
  }),
});
tell({ kind: 'ready', port: await serveObject(sessions) });
await stopped;
await resources.disposeAsync();
// Restate keeps its connections open.
process.exit(0);
