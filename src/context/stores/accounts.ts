import { readFields, text } from './fields.ts';
import { checkName, Named } from './named.ts';
import { Secret } from './secret.ts';

/** Access to a service of somebody else: whose it is, and the key to it (language.md 10.7). */
export interface Account {
  readonly name: string;
  /** What it gives access to: `llm`. */
  readonly kind: string;
  /** Name of the provider that takes the key. */
  readonly provider: string;
  /** Use `api_key.reveal()` where the request is made; everything else shows `[secret]`. */
  readonly api_key: Secret;
  readonly org_id?: string;
  readonly project_id?: string;
  readonly notes?: string;
}

/** The fields of an account as they are given: those of {@link Account}; `api_key` is a text, or wrapped already. */
export type AccountFields = Readonly<Record<string, unknown>>;

/** Looks accounts up. Names ignore letter case. */
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

/** The accounts of a root interpreter, shared by all its forks (CTX-3-4). */
export class AccountStore implements AccountReader {
  readonly #accounts = new Named<Account>('account');

  /** Throws {@link ConfigError} (`ERR_CONFIG`), which shows no value, for fields that are missing, unknown or unfit and for a name that is taken. */
  register(name: string, fields: AccountFields): void {
    const known = checkName('account', name);
    // `readFields` has just read every field with its reader.
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
