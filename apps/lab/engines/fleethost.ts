/** A host of `bench cluster` that claims sessions. It begins at any message of its parent. */
import { once } from 'node:events';
import { openFleetHost } from '../../../bench/fleet.ts';
import { openPlan, stopped, tell, tellFailed } from './fleetchild.ts';

await using resources = new AsyncDisposableStack();
const host = await openFleetHost(await openPlan(resources), resources);
const begun = once(process, 'message');
tell({ kind: 'ready', port: 0 });
await Promise.race([begun, stopped]);
const stop = host('', { onEnded: () => tell({ kind: 'ended' }), onError: tellFailed });
await stopped;
await stop();
process.disconnect?.();
