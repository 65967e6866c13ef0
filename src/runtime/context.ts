import type { HostContext, StoreReaders, Stores, TurnContext } from '../context/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import type { Telemetry } from '../telemetry/index.ts';
import type {
  AskPort,
  AuditRecord,
  CallHistory,
  CostMeter,
  ForkTools,
  PolicyGuard,
  RootDefinitions,
  SessionResources,
} from '../tools/index.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { Source, TaggedJson } from '../wire/protocol.ts';
import type { TextBuffers } from './buffers.ts';
import type { Definitions } from './definitions.ts';
import type { Deliveries } from './deliveries.ts';
import type { Tenants } from './tenants.ts';

/** Questions about sources. Each names its depth: one that a tool asks must not wait for a worker of the runs that wait for tools. */
type Questions = {
  readonly [Name in 'parse' | 'check' | 'foresee' | 'format']: (
    ...args: Required<Parameters<Sandbox[Name]>>
  ) => ReturnType<Sandbox[Name]>;
};

/** The part of a sandbox that the runtime needs. Optional members are absent in tests without workers. */
export type SandboxPort = Pick<Sandbox, 'run' | 'close'> &
  Questions &
  Partial<Pick<Sandbox, 'boundaryBreaches' | 'confinement' | 'drain' | 'launcher' | 'load'>>;

/** The parts that all runs of a runtime share. */
export interface RuntimeContext {
  readonly sandbox: SandboxPort;
  /** The root of all turn contexts. It is closed when the runtime is. */
  readonly turn: TurnContext;
  /** Unix milliseconds, for deadlines. */
  readonly now: () => number;
  readonly audit: ((record: AuditRecord) => unknown) | undefined;
  readonly resources: SessionResources;
  readonly tenants: Tenants;
  readonly telemetry: Telemetry;
  /** Calls that were made again because their tool was away. */
  readonly retries: { count: number };
}

/** The objects that all forks of a root interpreter share. */
export interface RootContext {
  readonly host: HostContext;
  readonly stores: Stores;
  /** Read-only views of {@link stores}. */
  readonly readers: StoreReaders;
  /** Shared by reference: a fork sees what is loaded after it was made. */
  readonly definitions: Definitions;
  /** The same definitions, as tools may change them. */
  readonly toolDefinitions: RootDefinitions;
  readonly buffers: TextBuffers;
  readonly deliveries: Deliveries;
}

/** The context of a fork's runs. Immutable: a run that needs another value gets a copy. */
export interface RunContext {
  readonly runtime: RuntimeContext;
  readonly root: RootContext;
  readonly forkId: string;
  readonly turn: TurnContext;
  readonly tools: ForkTools;
  /** Every guard must admit a call. The guard of the root comes first, then those of the fork. */
  readonly guards: readonly PolicyGuard[];
  readonly limits: LimitValues;
  /** Copies of the root's globals as they were when the fork was made. */
  readonly globals: ReadonlyMap<string, TaggedJson>;
  /** The history of the call for which the fork runs; null for a fork that answers no call. */
  readonly history: CallHistory | null;
  /** Makes the port that answers the asks of one run; null on a host without agents. */
  readonly asks: ((run: AskingRun) => AskPort) | null;
}

/** One run, as its asks see it. */
export interface AskingRun {
  readonly context: RunContext;
  readonly turn: TurnContext;
  readonly limits: LimitValues;
  /** The sources of the run itself, without the libraries of its root. */
  readonly sources: readonly Source[];
  readonly globals: Readonly<Record<string, TaggedJson>>;
  readonly history: CallHistory;
  /** What the run pays. */
  readonly costs: CostMeter;
}
