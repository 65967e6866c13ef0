import type { Keyring } from '../../aeiou/index.ts';
import {
  type DecisionLog,
  LoopController,
  type Metrics,
  type Profile,
  randomIds,
  runtimeExecutor,
  type SessionCoordinator,
  type SessionStore,
  type TakeApart,
  tightestCeilings,
} from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import type { LauncherChoice } from '../../sandbox/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { Config, ConfigProfile } from '../config/read.ts';
import { grammarOf, readAgent, systemOf } from '../flags/agent.ts';
import { loadLibrary } from '../flags/library.ts';
import { readModels } from '../flags/models.ts';
import { heldBy } from '../flags/rehearsal.ts';
import { type AwayServer, NOTHING, readSetup } from '../flags/setup.ts';
import { UsageError } from '../terminal/failure.ts';

/** What the profiles of a host share, also with those that a reload makes. */
export interface Shared {
  readonly keyring: Keyring;
  readonly coordinator: SessionCoordinator;
  readonly store: SessionStore;
  readonly log: DecisionLog | null;
  readonly metrics: Metrics;
  /** Takes the place of the launcher of every profile. */
  readonly launcher: LauncherChoice | undefined;
  /** Takes interrupted turns in processes of their own; null in such a process. */
  readonly apart: TakeApart | null;
}

/** The profiles of one reading of the configuration. Disposing ends their workers and servers. */
export interface Profiles extends AsyncDisposable {
  readonly byName: Readonly<Record<string, Profile>>;
  readonly runtimes: readonly Runtime[];
  /** The optional servers of tools that could not be used, and why, in words that name their profile. */
  readonly away: readonly AwayServer[];
}

/** Makes what drives the sessions of all profiles. Throws `UsageError` that names the file and the profile of a mistake. */
export async function openProfiles(file: string, config: Config, shared: Shared): Promise<Profiles> {
  await using resources = new AsyncDisposableStack();
  const byName: Record<string, Profile> = {};
  const runtimes: Runtime[] = [];
  const away: AwayServer[] = [];
  for (const [name, profile] of Object.entries(config.profiles)) {
    const opened = await within(`${file}: profile ${name}`, () => openProfile(profile, config, shared, resources));
    byName[name] = opened.profile;
    runtimes.push(opened.runtime);
    for (const { message, isBack } of opened.away) away.push({ message: `profile ${name}: ${message}`, isBack });
  }
  const { [config.unnamed]: fallback } = byName;
  const kept = resources.move();
  return {
    byName: fallback === undefined ? byName : { ...byName, '': fallback },
    runtimes,
    away,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** Makes what drives the sessions of one profile. It closes with `resources`. */
export async function openProfile(
  profile: ConfigProfile,
  { leaseMs, tenants }: Pick<Config, 'leaseMs' | 'tenants'>,
  { keyring, coordinator, store, log, metrics, launcher, apart }: Shared,
  resources: AsyncDisposableStack,
): Promise<{ readonly profile: Profile; readonly runtime: Runtime; readonly away: readonly AwayServer[] }> {
  const agent = await readAgent(profile);
  const away: AwayServer[] = [];
  const flags = launcher === undefined ? profile : { ...profile, launcher };
  const setup = await readSetup(flags, resources, undefined, { ...NOTHING, onAway: (server) => away.push(server) });
  const nested = () => ({ keyring, store, metrics, ...(log === null ? {} : { log }), leaseMs });
  const { ask, stores } = await readModels(profile, nested);
  const runtime = resources.use(await createRuntime({ ...setup, limits: profile.limits, ask, tenants }));
  const root = runtime.interpreter({ stores });
  await loadLibrary(root, profile.library);
  const controller = new LoopController({
    executor: runtimeExecutor(runtime, root),
    keyring,
    ids: randomIds,
    system: await systemOf(profile, setup, 'v3', root.library),
    grammar: grammarOf(profile, setup),
    coordinator,
    metrics,
    takeApart: apart ?? undefined,
  });
  const held = await heldBy(profile, setup, profile.limits, resources);
  const options: Profile['options'] = (_, session) => ({
    agent,
    ...tightestCeilings(profile.ceilings, session),
    repair: profile.repair,
    approve: profile.approve,
    ...held,
    wallMs: profile.maxTime,
    requiresApproval: profile.requireApproval ?? false,
    ...(session.tenant === '' ? {} : { tenant: session.tenant }),
  });
  return { profile: { controller, options }, runtime, away };
}

/** Says of a mistake in a configuration in which part it is. */
async function within<Result>(place: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UsageError || error instanceof ConfigError)) throw error;
    throw new UsageError(`${printable(place)}: ${error.message}`, { cause: error });
  }
}
