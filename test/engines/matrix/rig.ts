import { watchFile } from 'node:fs';
import { join } from 'node:path';
import { type Keyring, keyringFrom, loadKeyFile } from '../../../src/aeiou/index.ts';
import { AgentModelStore, createStores } from '../../../src/context/index.ts';
import {
  type Agent,
  AgentError,
  askHandler,
  type DecisionLog,
  FileLog,
  functionAgent,
  LoopController,
  programReply,
  runtimeExecutor,
  SessionCoordinator,
  type SessionStore,
  systemClock,
  type TakeApart,
} from '../../../src/loop/index.ts';
import { createRuntime, type Runtime } from '../../../src/runtime/index.ts';
import { openPlace } from './place.ts';
import { HELPER, type HostPlan, kindOf, type Step, WORKS } from './plan.ts';
import { Shop, shopTools } from './shop.ts';

/** Awaited at each moment of a turn at which a plan can make its process wait. */
export type Reached = (step: Step, sid: string, turn: number) => Promise<void>;

/** What drives the sessions in a process of the failure matrix. */
export interface Rig {
  readonly coordinator: SessionCoordinator;
  readonly controller: LoopController;
  readonly agent: Agent;
  /** Follows the key file. */
  readonly keyring: Keyring;
  readonly runtime: Runtime;
  readonly store: SessionStore;
  readonly log: DecisionLog | null;
}

export interface RigOptions {
  readonly takeApart?: TakeApart | undefined;
  readonly timed?: (store: SessionStore) => SessionStore;
}

/** A store that waits at the moments of its steps. */
function waiting(store: SessionStore, reached: Reached): SessionStore {
  const over: Partial<SessionStore> = {
    async next(...args) {
      const found = await store.next(...args);
      for (const { state } of found) await reached('lease', state.sid, state.nextTurn);
      return found;
    },
    async start(turn, fence) {
      const isCancelled = await store.start(turn, fence);
      await reached(turn.attempt === 0 ? 'reply' : 'start', turn.sid, turn.turn);
      return isCancelled;
    },
    async commit(commit) {
      const { sid } = commit.next;
      const turn = commit.record?.turn ?? 0;
      await reached('commit', sid, turn);
      const isCancelled = await store.commit(commit);
      await reached('committed', sid, turn);
      return isCancelled;
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

function fileLog(folder: string, reached: Reached): DecisionLog {
  const log = new FileLog(join(folder, 'log.jsonl'));
  return {
    has: (sid, turn) => log.has(sid, turn),
    ping: () => log.ping(),
    async append(entry) {
      await reached('log', entry.SID, entry.turn_index);
      await log.append(entry);
    },
  };
}

const program = (statements: readonly string[]): string => programReply(['command', ...statements, 'endcommand'].join('\n'));

/** Makes the controller of a plan, with its store, log, tools and agents; they close with `resources`. */
export async function openRig(
  plan: HostPlan,
  resources: AsyncDisposableStack,
  reached: Reached,
  { takeApart, timed = (store) => store }: RigOptions = {},
): Promise<Rig> {
  const unanswered = new Map<string, number>();
  const agent = functionAgent(async ({ sid, turn }) => {
    await reached('ask', sid, turn);
    const before = unanswered.get(`${sid} ${turn}`) ?? 0;
    unanswered.set(`${sid} ${turn}`, before + 1);
    if (kindOf(sid) === 'away' && before < 2) throw new AgentError(turn, 'the server is away', 'ERR_AGENT', { retryable: true });
    return program(WORKS[kindOf(sid)].turns[turn - 1] ?? []);
  });
  const helper = functionAgent(({ turn }) => program(HELPER[turn - 1] ?? []));
  const store = waiting(timed(await openPlace(plan, resources)), reached);
  const log = plan.fileLog ? fileLog(plan.folder, reached) : (store.log ?? null);
  const keyFile = join(plan.folder, 'keys.json');
  const keyring = keyringFrom(loadKeyFile(keyFile), { clock: systemClock });
  watchFile(keyFile, { interval: 50, persistent: false }, () => keyring.replace(loadKeyFile(keyFile)));
  const coordinator = new SessionCoordinator({ ...plan, store, log, clock: systemClock, replayTtl: 900 });
  const runtime = resources.use(
    await createRuntime({
      concurrency: 1,
      tools: shopTools(new Shop(plan.folder), plan.owner, reached),
      policy: { allow: ['tool.*'] },
      limits: { wallMs: 120_000, toolMs: 120_000 },
      ask: askHandler({
        keyring,
        store,
        leaseMs: plan.leaseMs,
        ...(log === null ? {} : { log }),
        providers: { test: () => helper },
      }),
    }),
  );
  const models = new AgentModelStore();
  models.register('helper', { provider: 'test', model: 'helper' });
  const controller = new LoopController({
    executor: runtimeExecutor(runtime, runtime.interpreter({ stores: createStores({ models }) })),
    keyring,
    coordinator,
    takeApart,
  });
  return { coordinator, controller, agent, keyring, runtime, store, log };
}
