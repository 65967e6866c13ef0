import { checkName, NamedEntries } from './entries.ts';
import { readFields, text } from './fields.ts';
import { Secret } from './secret.ts';

/** Access to an external service: its provider and the key for it. */
export interface Account {
  /** As it was registered. Lookups ignore letter case. */
  readonly name: string;
  /** The kind of service, for instance `llm`. */
  readonly kind: string;
  /** Name of the provider that accepts the key. */
  readonly provider: string;
  /** Call `api_key.reveal()` where the request is made. Every other use of it shows `[secret]`. */
  readonly api_key: Secret;
  /** The provider's id of an organization. */
  readonly org_id?: string;
  /** The provider's id of a project. */
  readonly project_id?: string;
  /** For people. */
  readonly notes?: string;
}

/** The fields of {@link Account}, unchecked. `api_key` is a text or a {@link Secret}. */
export type AccountFields = Readonly<Record<string, unknown>>;

/** Finds accounts. Names ignore letter case. */
export interface AccountReader {
  /** Undefined when there is none. */
  get(name: string): Account | undefined;
  /** Lower-case names, sorted. */
  list(): readonly string[];
}

const READERS = {
  kind: text,
  provider: text,
  api_key: (value: unknown, field: string): Secret => (value instanceof Secret ? value : new Secret(text(value, field))),
  org_id: text,
  project_id: text,
  notes: text,
};
const REQUIRED = ['kind', 'provider', 'api_key'] as const;

/** The accounts of a root interpreter, shared by all its forks. */
export class AccountStore implements AccountReader {
  readonly #accounts = new NamedEntries<Account>('account');

  /**
   * Throws {@link ConfigError} (`ERR_CONFIG`) for missing, unknown or invalid fields and for a name that is taken. The message shows no
   * value.
   */
  register(name: string, fields: AccountFields): void {
    const known = checkName('account', name);
    // `readFields` has read every field with its reader.
    const read = readFields(`the account '${known}'`, fields, READERS, REQUIRED) as Omit<Account, 'name'>;
    this.#accounts.add(known, Object.freeze({ name: known, ...read }));
  }

  get(name: string): Account | undefined {
    return this.#accounts.get(name);
  }

  /** False when there was none. */
  delete(name: string): boolean {
    return this.#accounts.delete(name);
  }

  list(): readonly string[] {
    return this.#accounts.keys();
  }
}
