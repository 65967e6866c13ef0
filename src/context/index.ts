/** Host and turn contexts, and the stores of a root interpreter. The nonce of a turn is not exported here: see `nonce.ts`. */
export {
  type Actor,
  createHostContext,
  type HostContext,
  type HostContextInit,
  isHostContext,
  type Logger,
  SILENT_LOGGER,
  type TextSink,
} from './host.ts';
export { LineReader, type LineSource } from './lines.ts';
export { KeyedMutex } from './mutex.ts';
export {
  type Account,
  type AccountFields,
  type AccountReader,
  AccountStore,
  type AgentModel,
  type AgentModelFields,
  type AgentModelReader,
  AgentModelStore,
  type CapsuleFields,
  CapsuleLayers,
  type CapsuleReader,
  capsule,
  capsuleFields,
  createStores,
  readersOf,
  Secret,
  type StoredCapsule,
  type StoreReaders,
  type Stores,
} from './stores/index.ts';
export {
  checkTenantId,
  currentTurn,
  DeadlineError,
  rootTurn,
  TurnClosedError,
  TurnContext,
  type TurnInit,
  turnStorage,
} from './turn.ts';
