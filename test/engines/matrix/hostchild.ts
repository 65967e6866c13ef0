import { Host } from '../../../src/loop/index.ts';
import { goOn, plan, reached, tell } from './child.ts';
import type { Asked } from './plan.ts';
import { openRig } from './rig.ts';

/** One host process of the failure matrix. It drains at SIGTERM, and waits at the moment that its plan names. */
await using resources = new AsyncDisposableStack();
const { coordinator, controller, agent } = await openRig(plan, resources, reached);
const host = new Host({
  coordinator,
  profiles: { '': { controller, options: () => ({ agent }) } },
  turnsPerClaim: 2,
  pollMs: 50,
  onError: (error, sid) => tell({ kind: 'error', text: `${sid}: ${error}` }),
});
process.on('message', (asked: Asked) => {
  if (asked.kind === 'go on') goOn();
  else
    controller
      .complete(asked.sid, asked.call, { result: asked.result })
      .catch((error: unknown) => tell({ kind: 'error', text: `${error}` }));
});
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
host.start();
tell({ kind: 'ready' });
await stopped;
await host.drain(60_000);
process.disconnect?.();
