import { join } from 'node:path';
import { keyringFrom, loadKeyFile } from '../../../src/aeiou/index.ts';
import { AgentModelStore, createStores } from '../../../src/context/index.ts';
import {
  askHandler,
  type DecisionLog,
  FileLog,
  functionAgent,
  Host,
  LoopController,
  programReply,
  runtimeExecutor,
  SessionCoordinator,
  type SessionStore,
  systemClock,
} from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { openPlace } from './place.ts';
import { type Asked, HELPER, type HostPlan, kindOf, type Step, type Told, WORKS } from './plan.ts';
import { Shop, shopTools } from './shop.ts';

/** One host process of the failure matrix. It drains at SIGTERM, and waits at the moment that its plan names. */
const plan: HostPlan = JSON.parse(process.argv[2] ?? '');

const tell = (told: Told): void => void process.send?.(told);
const goOn = Promise.withResolvers<void>();

/** Waits if this is the moment of the plan. */
async function reached(step: Step, sid: string, turn: number): Promise<void> {
  if (step !== plan.hold?.step || turn !== plan.hold.turn) return;
  tell({ kind: 'held', sid });
  await goOn.promise;
}

/** A store that waits at the moments of its steps. */
function waiting(store: SessionStore): SessionStore {
  const over: Partial<SessionStore> = {
    async next(...args) {
      const found = await store.next(...args);
      for (const { state } of found) await reached('lease', state.sid, state.nextTurn);
      return found;
    },
    async start(turn, fence) {
      await store.start(turn, fence);
      await reached('start', turn.sid, turn.turn);
    },
    async commit(commit) {
      const { sid } = commit.next;
      const turn = commit.record?.turn ?? 0;
      await reached('commit', sid, turn);
      await store.commit(commit);
      await reached('committed', sid, turn);
    },
    async logged(sid, turn, ...rest) {
      await reached('mark', sid, turn);
      await store.logged(sid, turn, ...rest);
    },
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(over, name) ?? Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function fileLog(): DecisionLog {
  const log = new FileLog(join(plan.folder, 'log.jsonl'));
  return {
    has: (sid, turn) => log.has(sid, turn),
    async append(entry) {
      await reached('log', entry.SID, entry.turn_index);
      await log.append(entry);
    },
  };
}

const program = (statements: readonly string[]): string => programReply(['command', ...statements, 'endcommand'].join('\n'));
const agent = functionAgent(({ sid, turn }) => program(WORKS[kindOf(sid)].turns[turn - 1] ?? []));
const helper = functionAgent(({ turn }) => program(HELPER[turn - 1] ?? []));

await using resources = new AsyncDisposableStack();
const store = waiting(await openPlace(plan, resources));
const log = plan.fileLog ? fileLog() : (store.log ?? null);
const keyring = keyringFrom(loadKeyFile(join(plan.folder, 'keys.json')), { clock: systemClock });
const coordinator = new SessionCoordinator({ ...plan, store, log, clock: systemClock, replayTtl: 900 });
const runtime = resources.use(
  await createRuntime({
    concurrency: 1,
    tools: shopTools(new Shop(plan.folder), plan.owner, reached),
    policy: { allow: ['tool.*'] },
    limits: { wallMs: 120_000, toolMs: 120_000 },
    ask: askHandler({ keyring, store, ...(log === null ? {} : { log }), providers: { test: () => helper } }),
  }),
);
const models = new AgentModelStore();
models.register('helper', { provider: 'test', model: 'helper' });
const controller = new LoopController({
  executor: runtimeExecutor(runtime, runtime.interpreter({ stores: createStores({ models }) })),
  keyring,
  coordinator,
});
const host = new Host({
  coordinator,
  profiles: { '': { controller, options: () => ({ agent }) } },
  turnsPerClaim: 2,
  pollMs: 50,
  onError: (error, sid) => tell({ kind: 'error', text: `${sid}: ${error}` }),
});
process.on('message', (asked: Asked) => {
  if (asked.kind === 'go on') goOn.resolve();
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
