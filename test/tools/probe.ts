import { tmpdir } from 'node:os';
import {
  createHostContext,
  createStores,
  type HostContext,
  type HostContextInit,
  readersOf,
  SILENT_LOGGER,
  type TurnContext,
} from '../../src/context/index.ts';
import { rootTurn } from '../../src/context/turn.ts';
import { Telemetry } from '../../src/telemetry/index.ts';
import {
  CostMeter,
  type DispatchContext,
  Dispatcher,
  Policy,
  PolicyGuard,
  type PolicyOptions,
  type ToolDefinition,
  ToolRegistry,
  ToolResources,
} from '../../src/tools/index.ts';
import type { CallIo, FinalReply } from '../../src/wire/call.ts';
import { encode } from '../../src/wire/codec.ts';
import { defaultLimits, type LimitValues } from '../../src/wire/limits.ts';
import type { CallSite, GuestCall } from '../../src/wire/protocol.ts';

/** Where the calls of these tests stand. */
export const SITE: CallSite = { fork: 'fork-1.1', source: 'test.ns', line: 2, column: 3 };

/** A host context with nothing but what a test names. */
export function testHost(init: Partial<HostContextInit> = {}): HostContext {
  return createHostContext({ logger: SILENT_LOGGER, ...init });
}

/** A turn that lasts as long as the test. */
export function testTurn(): TurnContext {
  return rootTurn(() => Date.now()).derive({});
}

/** A root that nothing can be added to. */
const NO_ROOT: DispatchContext['definitions'] = {
  append: () => Promise.reject(new Error('there is no root here')),
  signatures: async () => new Map(),
  constantProblem: () => 'there is no root here',
  setConstant: () => {},
};

/** Empty stores, and resources of no session. */
export function testShared(): Pick<
  DispatchContext,
  'stores' | 'readers' | 'definitions' | 'resources' | 'retries' | 'telemetry'
> {
  const stores = createStores();
  const own = new ToolResources(tmpdir(), SILENT_LOGGER);
  return {
    ...{ stores, readers: readersOf(stores), definitions: NO_ROOT, resources: () => own },
    ...{ telemetry: new Telemetry(), retries: { count: 0 } },
  };
}

/** Variables of a fork that is not there; `refuse` names those that cannot be set. */
export function variables(
  values: Map<string, unknown> = new Map(),
  refuse: readonly string[] = [],
): CallIo & { readonly abort: AbortController } {
  const abort = new AbortController();
  return {
    abort,
    signal: abort.signal,
    get over() {
      return abort.signal.aborted;
    },
    whenOver: (callback) => {
      if (abort.signal.aborted) callback();
      abort.signal.addEventListener('abort', callback);
      return () => abort.signal.removeEventListener('abort', callback);
    },
    queries: [],
    repeat: async () => {},
    getVar: async (name) => ({ found: values.has(name), value: encode(values.get(name)) }),
    defineConst: async () => null,
    setVar: async (name, value) => {
      if (refuse.includes(name)) return `'${name}' is a global`;
      values.set(name, value);
      return null;
    },
  };
}

interface BenchOptions {
  readonly policy?: PolicyOptions | null;
  readonly limits?: Partial<LimitValues>;
  readonly host?: HostContext;
  readonly turn?: TurnContext;
  readonly own?: readonly ToolDefinition[];
  readonly init?: Partial<DispatchContext>;
}

/** A dispatcher over these tools, and a way to call one as a script would. */
export class Bench {
  readonly dispatcher: Dispatcher;
  readonly tools: DispatchContext['tools'];
  #seq = 0;

  constructor(tools: readonly ToolDefinition[], { policy = { allow: ['*'] }, limits, host, turn, own, init }: BenchOptions = {}) {
    this.tools = new ToolRegistry(tools).forFork('fork-1', own);
    this.dispatcher = new Dispatcher({
      tools: this.tools,
      guards: [new PolicyGuard(policy === null ? null : new Policy(policy))],
      host: host ?? testHost(),
      turn: turn ?? testTurn(),
      limits: { ...defaultLimits('run'), ...limits },
      costs: new CostMeter({ ...defaultLimits('run'), ...limits }.cost),
      ...testShared(),
      ...init,
    });
  }

  call(name: string, args: readonly unknown[] = [], port: CallIo = variables(), at: CallSite = SITE): Promise<FinalReply> {
    const call: GuestCall = { t: 'tool', seq: ++this.#seq, name, args: args.map((arg) => encode(arg)), at };
    return this.dispatcher.handle(call, port);
  }
}
