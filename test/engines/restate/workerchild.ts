import { serveObject } from '../../../apps/lab/engines/endpoint.ts';
import { restateSessions } from '../../../src/restate/index.ts';
import { goOn, plan, reached, tell } from '../matrix/child.ts';
import { openRig } from '../matrix/rig.ts';

/** One worker process that Restate calls. It hands its turns over at SIGTERM, and waits at the moment that its plan names. */
await using resources = new AsyncDisposableStack();
const { coordinator, controller, agent, keyring } = await openRig(plan, resources, reached);
const sessions = await restateSessions({ name: plan.schema, coordinator, controller, options: () => ({ agent }) });
const port = await serveObject(sessions);
const attendance = coordinator.attend({
  kids: () => keyring.list().map(({ kid }) => kid),
  onError: (error) => tell({ kind: 'error', text: `${error}` }),
});
process.on('message', goOn);
const stopped = new Promise((resolve) => process.once('SIGTERM', resolve));
tell({ kind: 'ready', port });
await stopped;
await controller.handOff();
await attendance[Symbol.asyncDispose]();
await resources.disposeAsync();
// Restate keeps its connections open.
process.exit(0);
