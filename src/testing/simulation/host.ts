import type { Keyring } from '../../aeiou/index.ts';
import { AgentModelStore, createStores } from '../../context/index.ts';
import { RealmSandbox } from '../../engine/sandbox.ts';
import {
  type Agent,
  AgentError,
  askHandler,
  Host,
  LoopController,
  runtimeExecutor,
  SessionCoordinator,
  type SessionStore,
  SharedLock,
  seededIds,
  tightestCeilings,
} from '../../loop/index.ts';
import { checkSettings, Runtime } from '../../runtime/index.ts';
import { type ToolDefinition, ToolError, type ToolRuntime, withWork } from '../../tools/index.ts';
import { ALLOW_ALL } from '../tools.ts';
import { DiskLog, type Files, WorldDisk } from './disk.ts';
import type { Process } from './process.ts';
import { remoteStore } from './remotestore.ts';
import type { Scenario } from './scenario.ts';
import type { Actor } from './timeline.ts';
import type { Watch } from './watch.ts';

/** The parts that all processes of a world share. */
export interface Shared {
  readonly seed: number;
  readonly scenario: Scenario;
  readonly store: SessionStore;
  /** The machine of the store. */
  readonly server: Actor;
  readonly files: Files;
  readonly keyring: Keyring;
  readonly watch: Watch;
  readonly leaseMs: number;
}

/** Most milliseconds of a request to an agent and to a tool, in each direction. */
const AGENT_MS = 2000;
const TOOL_MS = 300;

/** The parts of a real host process, in a simulated process. */
export function controllerIn(
  process: Process,
  shared: Shared,
): { readonly controller: LoopController; readonly coordinator: SessionCoordinator } {
  const { seed, scenario, store, server, files, keyring, watch, leaseMs } = shared;
  const { tools = [], policy = ALLOW_ALL, onExpired = 'halt', models = {}, limits = {} } = scenario;
  const sandbox = new RealmSandbox(
    ({ forkId }) => {
      const { sid, turn } = turnOf(forkId);
      return watch.began(process, sid, turn);
    },
    ({ forkId }) => process.killsWorker(`${turnOf(forkId).sid}.worker`),
  );
  const ids = seededIds(`${seed} ${process.name}`);
  const known = new AgentModelStore();
  for (const model of Object.keys(models)) known.register(model, { provider: 'world', model });
  const provider = ({ name }: { readonly name: string }): Agent => distant(models[name] ?? scenario.agent, process, name);
  const settings = checkSettings({
    tools: tools.map((tool) => disturbed(tool, process, watch)),
    policy,
    now: process.now,
    ask: askHandler({ keyring, clock: process, ids, providers: { world: provider } }),
  });
  const runtime = new Runtime(sandbox, settings);
  const coordinator = new SessionCoordinator({
    store: remoteStore(process, server, store, watch),
    log: new DiskLog(process, new WorldDisk(process, files)),
    clock: process,
    owner: process.name,
    leaseMs,
    replayTtl: 900,
    turns: new SharedLock(),
  });
  const controller = new LoopController({
    executor: runtimeExecutor(runtime, runtime.interpreter({ stores: createStores({ models: known }) })),
    keyring,
    clock: process,
    ids,
    coordinator,
    onExpired,
    limits,
    system: '',
  });
  return { controller, coordinator };
}

/** A host of the fleet. */
export function hostIn(process: Process, shared: Shared, onError: (error: unknown) => void): Host {
  const { controller, coordinator } = controllerIn(process, shared);
  const agent = distant(shared.scenario.agent, process);
  return new Host({
    coordinator,
    profiles: { '': { controller, options: (_sid, setup) => ({ agent, ...tightestCeilings({}, setup) }) } },
    concurrency: 3,
    turnsPerClaim: 2,
    pollMs: 2000,
    onError,
  });
}

/** An agent behind a simulated network. A request to it has the place of its session, or of its model. */
function distant(agent: Agent, process: Process, place?: string): Agent {
  return {
    name: agent.name,
    fixed: agent.fixed,
    reply: (request) =>
      process.disturbed(
        `${place ?? request.sid}.agent`,
        AGENT_MS,
        (why) => new AgentError(request.turn, `turn ${request.turn} has no reply: ${why}`, 'ERR_AGENT', { retryable: true }),
        () => agent.reply(request),
      ),
  };
}

/** A tool whose calls the watch sees, and that may fail. */
function disturbed(tool: ToolDefinition, process: Process, watch: Watch): ToolDefinition {
  const { canonicalName, idempotent, run, complete } = tool;
  const away = (why: string): Error => new ToolError(21, `the tool is away: ${why}`);
  const placeOf = ({ turn }: ToolRuntime): string => `${turn.sessionId}.${canonicalName}`;
  const seen = (args: unknown, { call, turn }: ToolRuntime): void => {
    const { sessionId, turnIndex } = turn;
    if (sessionId === null || turnIndex === null) return;
    const { key } = call;
    watch.called({ process, sid: sessionId, turn: turnIndex, key, tool: canonicalName, args: JSON.stringify(args), idempotent });
  };
  return withWork(tool, {
    run: (args, runtime) => {
      seen(args, runtime);
      return process.disturbed(placeOf(runtime), TOOL_MS, away, async () => run(args, runtime));
    },
    complete:
      complete === null
        ? null
        : (answer, args, runtime) => {
            seen(args, runtime);
            return process.disturbed(placeOf(runtime), TOOL_MS, away, async () => complete(answer, args, runtime));
          },
  });
}

function turnOf(forkId: string): { readonly sid: string; readonly turn: number } {
  const [sid = '', turn = ''] = forkId.split('#');
  return { sid, turn: Number.parseInt(turn, 10) };
}
