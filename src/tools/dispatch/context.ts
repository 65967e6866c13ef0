import type { HostContext, StoreReaders, Stores, TurnContext } from '../../context/index.ts';
import type { Telemetry } from '../../telemetry/index.ts';
import type { CallIo } from '../../wire/call.ts';
import { callBack } from '../../wire/callback.ts';
import type { JournalEntry, WaitingCall } from '../../wire/journal.ts';
import type { LimitValues } from '../../wire/limits.ts';
import type { CallSite, TaggedJson } from '../../wire/protocol.ts';
import type { RootDefinitions } from '../define/definition.ts';
import type { Approvals } from '../grant/approvals.ts';
import type { Bound } from '../grant/bound.ts';
import type { PolicyGuard } from '../policy/guard.ts';
import type { CallOrigin } from '../policy/origin.ts';
import type { ForkTools } from '../registry.ts';
import type { ToolResources } from '../sessionresources.ts';
import type { AskPort } from './asks.ts';
import type { AuditRecord } from './audit.ts';
import type { CostMeter } from './costs.ts';
import type { EarlierCalls } from './earlier.ts';
import type { CallHistory } from './history.ts';
import type { CallHold, HostHold } from './hold.ts';
import type { CallQuotas } from './quotas.ts';
import type { CallScript, Completed } from './recorded.ts';

/** The context that all calls of one run share. It does not change during the run. */
export interface DispatchContext {
  readonly tools: ForkTools;
  /** Every guard must admit a call. The guard of the root comes first, then those of the fork. */
  readonly guards: readonly PolicyGuard[];
  readonly host: HostContext;
  readonly turn: TurnContext;
  readonly limits: LimitValues;
  readonly stores: Stores;
  /** Read-only views of {@link stores}. */
  readonly readers: StoreReaders;
  readonly definitions: RootDefinitions;
  /** The resources of the session, or of the run outside of any session; made at the first use. */
  resources(): ToolResources;
  /** Receives every call of a script once the call has ended. */
  readonly onCall?: ((entry: JournalEntry) => unknown) | undefined;
  readonly audit?: ((record: AuditRecord) => unknown) | undefined;
  readonly telemetry: Telemetry;
  /** Counts the calls that are made again because their tool was away. */
  readonly retries: { count: number };
  /** Answers `ask`; without it there is no agent to ask. */
  readonly ask?: AskPort | undefined;
  /** Answers that are known before the call, when a recorded run is executed again. */
  readonly recorded?: CallScript | undefined;
  /** The calls of earlier attempts at the turn, which answer the same calls of this one. */
  readonly earlier?: EarlierCalls | undefined;
  /** Whether this is the only run of a turn, so that the number of a call identifies it; false when absent. */
  readonly asTurn?: boolean;
  /** Whether a tool may put the run aside, because the host keeps the run and continues it later; false when absent. */
  readonly mayWait?: boolean;
  /** The granted calls, if the run is bound to a grant. */
  readonly bound?: Bound | undefined;
  /** What a person approves of the program; null or absent when nothing is asked. */
  readonly approvals?: Approvals | null | undefined;
  /** The calls that count for rules of order, to which the run adds its own; none before it when absent. */
  readonly history?: CallHistory | undefined;
  /** What the run pays for its calls. */
  readonly costs: CostMeter;
  /** Stores the calls while the run goes on; absent if the run is stored only at its end. */
  readonly keeper?: CallKeeper | undefined;
  /** Milliseconds that the turn of the run has taken, which count for the beginning of its calls; none when absent. */
  readonly before?: (() => number) | undefined;
  /** Number of scripts that wait for this run; 0 when absent. */
  readonly depth?: number;
}

/** The parts that all tool calls of a run share. */
export interface CallingRun {
  readonly context: DispatchContext;
  readonly quotas: CallQuotas;
  readonly holds: HostHold;
  readonly history: CallHistory;
}

/** One call of a tool, made by a script or by another tool. */
export interface ToolCall {
  /** Unique in its session. The same id completes a suspended call. Computed when it is first asked for: most calls need none. */
  readonly id: () => string;
  /** Number of the outermost call in its run. */
  readonly seq: number;
  /** As the caller wrote it. */
  readonly name: string;
  readonly args: readonly TaggedJson[];
  /** Where in the script the outermost call stands. */
  readonly site: CallSite;
  readonly io: CallIo;
  /** What the call holds on the host. */
  readonly hold: CallHold;
  /** Nesting depth of tools that call tools; 0 for a call of a script. */
  readonly depth: number;
  /** Whether a tool that called this one sets no variables. */
  readonly keepsVariables?: boolean;
  /** The late answer to a suspended call; null for a new call. */
  readonly completion: Completed | null;
  /** The labels of the call; null without rules about origin. */
  readonly origin: CallOrigin | null;
  /** Whether a person has allowed what the policy asks one about; false when absent. */
  readonly isAllowed?: boolean;
}

/** Calls a callback of the application. A callback cannot break a run: its failure goes to the log. */
export function notify({ host }: Pick<DispatchContext, 'host'>, name: string, callback: () => unknown): void {
  callBack(callback, (error) => host.logger.error({ error }, `the callback ${name} failed`));
}

/**
 * Keeps the calls of a run while the run goes on, so that another process can continue it after the last one. Both methods reject
 * when this process may not act any more; the run then ends.
 */
export interface CallKeeper {
  /** Called before a call that must not be repeated without a person's decision. The call is made when this has resolved. */
  began(call: WaitingCall): Promise<void>;
  /** Called when a call has ended with an answer. The program goes on when this has resolved. */
  ended(entry: JournalEntry): Promise<void>;
}
