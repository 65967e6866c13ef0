import { encodeUserdata } from '../aeiou/index.ts';
import { type Check, checker, checkObject, checkPrices, checkText, oneOf } from '../wire/options.ts';
import { CEILING_CHECKS, type Ceilings } from './ceilings.ts';
import { randomIds } from './ids.ts';
import { configurationOf, type LoopConfiguration, pricesOf } from './sessions/configuration.ts';
import { type JsonObject, PLAIN_SETUP, type SessionSetup } from './sessions/setup.ts';
import { newSession, type SessionParent, type SessionState, type SessionStore } from './sessions/store.ts';
import { checkSid } from './turn/turn.ts';

/** How a session is opened. */
export interface OpenOptions extends LoopConfiguration {
  /** Null, the default, for a session of the host's own. */
  readonly parent?: SessionParent | null;
  /** Whose session it is: hosts that claim sessions share their work between tenants. */
  readonly tenant?: string;
  /** Which hosts claim it: those that know a profile of this name; those that drive sessions without one when absent. */
  readonly profile?: string;
  /** What the driver needs besides; kept with the session as JSON. */
  readonly configuration?: JsonObject;
}

const checkParent: Check = (what, value) => {
  if (value !== null) checkObject(what, value);
};

const checkCeilings = checker<Ceilings>(CEILING_CHECKS);

const checkOpen = checker<OpenOptions>({
  parent: checkParent,
  durable: oneOf('turn', 'call'),
  ceilings: checkCeilings,
  prices: checkPrices,
  tenant: checkText,
  profile: checkText,
  configuration: checkObject,
});

/** A session as it is stored first. Throws as `LoopController.open` does. */
export function sessionToOpen(
  userdata: unknown,
  sid: string,
  options: OpenOptions,
): { readonly state: SessionState; readonly setup: SessionSetup } {
  checkSid(sid);
  checkOpen('the options of opening a session', options);
  const { parent = null, tenant = '', profile = '', configuration = null, ...loop } = options;
  const setup = { ...PLAIN_SETUP, tenant, profile, configuration: configurationOf(loop, configuration) };
  return {
    state: newSession(sid, encodeUserdata(userdata), parent),
    // A host that knows table 1 alone would count by it.
    setup: pricesOf(setup) === 1 ? setup : { ...setup, reader: 2 },
  };
}

/**
 * Puts a session into a store, for a host that claims it, and resolves with its id, a new one unless `sid` is given. `at` is Unix
 * milliseconds. Throws as `LoopController.open` does.
 */
export async function openSession(
  store: SessionStore,
  userdata: unknown,
  { sid = randomIds.session(), at, ...options }: OpenOptions & { readonly sid?: string; readonly at: number },
): Promise<string> {
  const { state, setup } = sessionToOpen(userdata, sid, options);
  await store.create(state, at, setup);
  return sid;
}
