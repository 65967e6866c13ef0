import { VERSION } from '../../runtime/version.ts';
import { StoreError } from '../../sqlite/error.ts';
import { ConfigError } from '../../wire/errors.ts';
import { checker, wholeNumber } from '../../wire/options.ts';

/** A JSON object that a store keeps without reading it. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What a host must know about a session to drive it. It is fixed when the session is created. */
export interface SessionSetup {
  /** The tenant of the session. Hosts share their claims between tenants. 0 to 128 visible ASCII characters; empty for no tenant. */
  readonly tenant: string;
  /**
   * The name of the configuration that a host must have to drive it. 0 to 128 visible ASCII characters; empty for the default of each
   * host. The cost of a claim grows with the number of names that a host has.
   */
  readonly profile: string;
  /** Further data for its driver, for instance agent, tools and limits; null for the driver's own configuration. */
  readonly configuration: JsonObject | null;
  /** Version of the package that created the session. */
  readonly engine: string;
  /** The oldest form of stored sessions that a driver must know, see {@link READER}. */
  readonly reader: number;
}

/** The newest form of stored sessions that this version can drive. */
export const READER = 1;

/** The setup of a session that every host can drive. */
export const PLAIN_SETUP: SessionSetup = Object.freeze({
  tenant: '',
  profile: '',
  configuration: null,
  engine: VERSION,
  reader: 1,
});

/** Which sessions a host can drive. */
export interface Runnable {
  /** The profiles of the host. */
  readonly profiles: readonly string[];
  /** The newest form of stored sessions that the host can drive; {@link READER} when absent. */
  readonly reader?: number | undefined;
  /** Tenants whose sessions the host does not take now. */
  readonly without?: readonly string[];
}

/** Most sessions that may be open at a time, those that an `ask` opened apart. A session beyond it is refused with `BusyError` (`ERR_BUSY`). */
export interface Admission {
  /** Of one tenant; any number when absent. Sessions without a tenant count as those of one. */
  readonly tenant?: number | undefined;
  /** Of the store; any number when absent. */
  readonly store?: number | undefined;
}

/** Checks bounds on open sessions. */
export const checkAdmission = checker<Admission>({ tenant: wholeNumber(1), store: wholeNumber(1) });

/** Throws {@link ConfigError} for a setup that a store must not keep. */
export function checkSetup({ tenant, profile, reader }: SessionSetup): void {
  for (const [what, name] of Object.entries({ tenant, profile }))
    if (name.length > 128 || [...name].some((each) => each <= ' ' || each > '~'))
      throw new ConfigError(`the ${what} of a session may have up to 128 visible ASCII characters`);
  if (!Number.isSafeInteger(reader) || reader < 1) throw new ConfigError('the reader of a session must be a whole number from 1');
}

/** Throws {@link StoreError} (`newer`) for a session that this version cannot drive. */
export function mustKnow(sid: string, { reader, engine }: Pick<SessionSetup, 'reader' | 'engine'>): void {
  if (reader > READER)
    throw new StoreError(
      'newer',
      `session ${JSON.stringify(sid)} needs a newer version (form ${reader}; this one knows ${READER}; ${engine} opened it)`,
    );
}
