/**
 * More about contexts: accounts, capsules and the stores of a root, lines of input, signed libraries. Entry point `neuroscript-runtime/context`.
 */

export {
  type Account,
  type AccountFields,
  type AccountReader,
  AccountStore,
  type AgentModel,
  type AgentModelFields,
  type AgentModelReader,
  type CapsuleFields,
  CapsuleLayers,
  type CapsuleReader,
  DeadlineError,
  LineReader,
  type LineSource,
  type StoredCapsule,
  type StoreReaders,
  type Stores,
  type TextSink,
} from '../context/index.ts';
export type { TenantInit, TenantLimits, TenantReport, TenantsOptions, TenantUse } from '../runtime/index.ts';
export { SELF_BUFFER, type SignedUnit, type SymbolTable, signUnit, type TextBuffers, UnitError } from '../runtime/index.ts';
