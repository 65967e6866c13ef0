import { serveObject } from '../../../apps/lab/engines/endpoint.ts';
import { restateSessions } from '../../../src/restate/index.ts';
import { goOn, plan, reached, tell } from '../matrix/child.ts';
import { openRig } from '../matrix/rig.ts';

/** One worker process that Restate calls. It hands its turns over at SIGTERM, and waits at the moment that its plan names. */
await using resources = new AsyncDisposableStack();
const { coordinator, controller, agent } = await openRig(plan, resources, reached);
const sessions = await restateSessions({ name: plan.schema, coordinator, controller, options: () => ({ agent }) });
const port = await serveObject(sessions);
const tend = setInterval(() => void coordinator.tend().catch((error) => tell({ kind: 'error', text: `${error}` })), plan.leaseMs);
process.on('message', goOn);
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
tell({ kind: 'ready', port });
await stopped;
clearInterval(tend);
await controller.handOff();
await resources.disposeAsync();
// Restate keeps its connections open.
process.exit(0);
