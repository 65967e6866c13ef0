// A worker that a server of Restate calls, see docs/scale.md: node worker.mjs sessions.db 9080
import { createServer } from 'node:http2';
import { createEndpointHandler } from '@restatedev/restate-sdk';
import { createRuntime } from 'neuroscript-runtime';
import {
  functionAgent,
  LoopController,
  programReply,
  SessionCoordinator,
  SqliteStore,
  systemClock,
} from 'neuroscript-runtime/loop';
import { restateSessions } from 'neuroscript-runtime/restate';

const [place = 'sessions.db', port = '9080'] = process.argv.slice(2);
const store = await SqliteStore.open(place);
const coordinator = new SessionCoordinator({ store, log: store.log ?? null, clock: systemClock, replayTtl: 900 });
const controller = new LoopController({ runtime: await createRuntime(), coordinator });
const agent = functionAgent(() => programReply('command\n  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand'));
const sessions = await restateSessions({ coordinator, controller, options: () => ({ agent }) });
createServer(createEndpointHandler({ services: [sessions] })).listen(Number(port), '127.0.0.1');
coordinator.attend({ onError: (error) => process.emitWarning(`${error}`) });
