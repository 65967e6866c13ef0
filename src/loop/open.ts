import { encodeUserdata } from '../aeiou/index.ts';
import { jsonFrom, orConfigError } from '../wire/foreign.ts';
import { type Check, checker, checkObject, checkText, listOf, oneOf } from '../wire/options.ts';
import { isRecord } from '../wire/unknown.ts';
import { CEILING_CHECKS, type Ceilings } from './ceilings.ts';
import { checkSid, randomIds } from './ids.ts';
import { configurationOf, type LoopConfiguration } from './sessions/configuration.ts';
import { type Admission, checkAdmission, type JsonObject, PLAIN_SETUP, type SessionSetup } from './sessions/setup.ts';
import { newSession, type SessionParent, type SessionState, type SessionStore } from './sessions/store.ts';

/** Options of opening a session. */
export interface OpenOptions extends LoopConfiguration {
  /** The `ask` that opens the session; null, the default, for a session that the host opens itself. */
  readonly parent?: SessionParent | null;
  /** Labels of USERDATA, for a session that an `ask` opens under rules about origin; none when absent. */
  readonly labels?: readonly string[] | undefined;
  /** The tenant of the session. Hosts share their work between tenants. */
  readonly tenant?: string | undefined;
  /** The profile that a host must have to claim the session. When absent, hosts that drive sessions without a profile claim it. */
  readonly profile?: string | undefined;
  /** Further configuration for the driver, stored with the session as JSON. */
  readonly configuration?: JsonObject;
  /** Most sessions that may be open with this one; any number when absent. */
  readonly admission?: Admission | undefined;
}

const checkParent: Check = (what, value) => {
  if (value !== null) checkObject(what, value);
};

const checkCeilings = checker<Ceilings>(CEILING_CHECKS);

const checkOpen = checker<OpenOptions>({
  parent: checkParent,
  labels: listOf(checkText),
  durable: oneOf('turn', 'call'),
  ceilings: checkCeilings,
  tenant: checkText,
  profile: checkText,
  configuration: checkObject,
  admission: checkAdmission,
});

/** The first stored state of a session. Throws as `LoopController.open` does. */
export function sessionToOpen(
  userdata: unknown,
  sid: string,
  options: OpenOptions,
): { readonly state: SessionState; readonly setup: SessionSetup } {
  checkSid(sid);
  checkOpen('the options of opening a session', options);
  const { parent = null, labels = [], tenant = '', profile = '', configuration = null, admission: _, ...loop } = options;
  const setup = { ...PLAIN_SETUP, tenant, profile, configuration: configurationOf(loop, plainConfiguration(configuration)) };
  const origins = labels.length === 0 ? {} : { origins: { read: labels, userdata: labels } };
  return { state: { ...newSession(sid, encodeUserdata(userdata), parent), ...origins }, setup };
}

/** A copy of the configuration. Throws {@link ConfigError} with the place of what JSON would change. */
function plainConfiguration(configuration: JsonObject | null): JsonObject | null {
  const copy = configuration && orConfigError('the configuration of the session', () => jsonFrom(configuration));
  return isRecord(copy) ? copy : null;
}

/**
 * Stores a session that a host can claim, and resolves with its id: `sid`, or a new one. `at` is Unix milliseconds. Throws as
 * `LoopController.open` does.
 */
export async function openSession(
  store: SessionStore,
  userdata: unknown,
  { sid = randomIds.session(), at, ...options }: OpenOptions & { readonly sid?: string | undefined; readonly at: number },
): Promise<string> {
  const { state, setup } = sessionToOpen(userdata, sid, options);
  await store.create(state, at, setup, options.admission);
  return sid;
}
