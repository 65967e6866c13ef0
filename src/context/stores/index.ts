import { ConfigError } from '../../wire/errors.ts';
import { anything, checker } from '../../wire/options.ts';
import { type AccountReader, AccountStore } from './accounts.ts';
import { CapsuleLayers, type CapsuleReader } from './capsules.ts';
import { type AgentModelReader, AgentModelStore } from './models.ts';

/** The stores of a root interpreter, shared by all its forks. */
export interface Stores {
  /** Accounts of external services. */
  readonly accounts: AccountStore;
  /** Agents that `ask` can name. */
  readonly models: AgentModelStore;
  /** Named, versioned texts. */
  readonly capsules: CapsuleLayers;
}

/** Read-only views of the stores, for tools. */
export interface StoreReaders {
  /** Accounts of external services. */
  readonly accounts: AccountReader;
  /** Agents that `ask` can name. */
  readonly models: AgentModelReader;
  /** Named, versioned texts. */
  readonly capsules: CapsuleReader;
}

const checkStores = checker<Partial<Stores>>({ accounts: anything, models: anything, capsules: anything });

/** Completes the given stores with empty ones. Throws {@link ConfigError} (`ERR_CONFIG`) for an object that is not a store. */
export function createStores(given?: Partial<Stores>): Stores {
  if (given !== undefined) checkStores('stores', given);
  const { accounts = new AccountStore(), models = new AgentModelStore(), capsules = new CapsuleLayers() } = given ?? {};
  if (!(accounts instanceof AccountStore)) throw new ConfigError('stores.accounts must be an AccountStore');
  if (!(models instanceof AgentModelStore)) throw new ConfigError('stores.models must be an AgentModelStore');
  if (!(capsules instanceof CapsuleLayers)) throw new ConfigError('stores.capsules must be CapsuleLayers');
  return Object.freeze({ accounts, models, capsules });
}

/** Read-only views of the stores. They are objects of their own, so no cast gives access to a store's other methods. */
export function readersOf({ accounts, models, capsules }: Stores): StoreReaders {
  return Object.freeze({
    accounts: Object.freeze({ get: (name: string) => accounts.get(name), list: () => accounts.list() }),
    models: Object.freeze({ get: (name: string) => models.get(name), list: () => models.list() }),
    capsules: Object.freeze({
      get: (name: string, version: number) => capsules.get(name, version),
      latest: (name: string) => capsules.latest(name),
      capsules: () => capsules.capsules(),
    }),
  });
}

export { type Account, type AccountFields, type AccountReader, AccountStore } from './accounts.ts';
export { type CapsuleFields, CapsuleLayers, type CapsuleReader, capsule, capsuleFields, type StoredCapsule } from './capsules.ts';
export { type AgentModel, type AgentModelFields, type AgentModelReader, AgentModelStore } from './models.ts';
export { Secret } from './secret.ts';
