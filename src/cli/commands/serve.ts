import { type Command, Option } from 'commander';
import { DEFAULT_LIFETIMES, type Keyring } from '../../aeiou/index.ts';
import {
  type DecisionLog,
  FileLog,
  Host,
  LoopController,
  Metrics,
  type Profile,
  randomIds,
  runtimeExecutor,
  SessionCoordinator,
  type SessionStore,
  SuspendedError,
  systemClock,
  type TakeApart,
  tightestCeilings,
  turnProcess,
} from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { type Config, type ConfigProfile, readConfig } from '../config/read.ts';
import { grammarOf, readAgent, systemOf } from '../flags/agent.ts';
import { readModels } from '../flags/models.ts';
import { timeFlag, wholeNumber } from '../flags/options.ts';
import { readSetup } from '../flags/setup.ts';
import { addStore, openStore } from '../flags/store.ts';
import { serveStatus } from '../serve/status.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { usable } from './drive.ts';
import { readKeyring } from './keys.ts';

interface ServeFlags {
  readonly store?: string;
  readonly storeListen?: string;
  readonly config: string;
  readonly concurrency: number;
  readonly drain: number;
  readonly listen?: string;
  readonly owner?: string;
  readonly take?: string;
}

const HELP = `
Any number of hosts may serve one store: each session is driven by one of them
at a time, and by another one when its host dies. "neuroscript sessions open"
puts sessions into the store.

SIGTERM, SIGINT or SIGHUP drains: the host claims nothing more, lets every turn
be decided, and leaves the sessions to other hosts. A second signal, or the end
of --drain, gives up the turns that still run; other hosts run them again.

A configuration (YAML or JSON; schemas/config.schema.json):
  keys: keys.json            # the same on every host
  listen: 127.0.0.1:9464     # /healthz, /readyz, /metrics
  profiles:
    default:
      agent: model:qwen3:8b
      baseUrl: http://127.0.0.1:11434/v1
      tools: tools.yaml
      policy: policy.yaml
With one profile, its keys may stand beside those of the host:
  name: night                # opened with "sessions open --config FILE"
  agent: command:./night.sh

Example:
  neuroscript serve --store sessions.db --config serve.yaml --drain 60s
`;

/** `serve`: drives the sessions of a store, with other hosts. */
export function addServe(program: Command, execute: Execute): void {
  const command = program
    .command('serve')
    .summary('drive the sessions of a store, with other hosts')
    .description('Claims sessions that are ready, drives them, and hands them over when it stops.');
  addStore(command)
    .option('--store-listen <URL>', 'the database without the pooler of --store, for notices of new work')
    .requiredOption('--config <FILE>', 'profiles, keys and limits of this host')
    .addOption(
      new Option('--concurrency <N>', 'maximum number of sessions at a time')
        .argParser(wholeNumber('--concurrency', 1))
        .default(8),
    )
    .addOption(
      new Option('--drain <TIME>', 'how long turns may take to end after the first signal')
        .argParser(timeFlag('drain'))
        .default(60_000, '60s'),
    )
    .option('--listen <HOST:PORT>', 'where health and metrics are served, in place of the configuration')
    .option('--owner <NAME>', 'name of this host in leases; different for every process (default: chosen)')
    // How a host starts a process for one turn: see `apart`.
    .addOption(new Option('--take <SID>').hideHelp())
    .addHelpText('after', HELP)
    .action((flags: ServeFlags) => execute((terminal) => usable(() => serve(flags, terminal))));
}

async function serve(flags: ServeFlags, terminal: Terminal): Promise<ExitCode> {
  const config = await readConfig(flags.config);
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await openStore(flags.store, { mustExist: false, listenUrl: flags.storeListen }));
  const log = config.log === undefined ? (store.log ?? null) : new FileLog(config.log);
  const coordinator = new SessionCoordinator({
    store,
    log,
    clock: systemClock,
    replayTtl: DEFAULT_LIFETIMES.replayTtl,
    leaseMs: config.leaseMs,
    owner: flags.owner,
  });
  const metrics = new Metrics();
  const keyring = readKeyring(config.keys, systemClock);
  const shared = { config, keyring, coordinator, store, log, metrics, resources, apart: apart(flags) };
  if (flags.take !== undefined) return await take(flags.take, shared, terminal);
  const profiles: Record<string, Profile> = {};
  for (const [name, profile] of Object.entries(config.profiles))
    profiles[name] = await within(`${flags.config}: profile ${name}`, () => driverOf(profile, shared));
  if (config.keys === undefined)
    terminal.err.line(`neuroscript: ${printable(flags.config)} names no keys; tokens are signed with new keys of this process`);
  const { [config.unnamed]: fallback } = profiles;
  const host = new Host({
    coordinator,
    profiles: fallback === undefined ? profiles : { ...profiles, '': fallback },
    concurrency: flags.concurrency,
    tenantConcurrency: config.tenantConcurrency,
    turnsPerClaim: config.turnsPerClaim,
    onError: (error, sid) => terminal.err.line(problem(error, sid)),
  });
  const listen = flags.listen ?? config.listen;
  const status = listen === undefined ? null : resources.use(await serveStatus({ listen, state: () => host.state, metrics }));
  host.start();
  terminal.err.line(`neuroscript: serving as ${coordinator.owner}${status === null ? '' : `, ${status.url}`}`);
  const hurry = new AbortController();
  await stopped(terminal, hurry);
  terminal.err.line(`neuroscript: draining ${host.state.driving} sessions`);
  await host.drain(flags.drain, hurry.signal);
  terminal.err.line('neuroscript: drained');
  return EXIT.ok;
}

/** Starts a process of this command that takes one turn for this host. */
function apart({ store, config }: ServeFlags): TakeApart {
  const [, script = ''] = process.argv;
  const same = [script, 'serve', '--config', config, ...(store === undefined ? [] : ['--store', store])];
  return turnProcess(({ sid, owner }) => [...same, `--take=${sid}`, `--owner=${owner}`]);
}

/** Takes the next turn of one session, in a process that a host has started for it. Signals do not end the turn. */
async function take(sid: string, shared: Shared, terminal: Terminal): Promise<ExitCode> {
  terminal.onSignal(() => {});
  const { coordinator, config } = shared;
  const { setup } = await coordinator.claim(sid);
  const profile = config.profiles[setup.profile === '' ? config.unnamed : setup.profile];
  if (profile === undefined) throw new UsageError(`this host has no profile '${printable(setup.profile)}'`);
  const { controller, options } = await driverOf(profile, { ...shared, apart: null });
  try {
    await controller.step(sid, options(sid, setup));
  } catch (error) {
    if (!(error instanceof SuspendedError)) throw error;
  }
  return EXIT.ok;
}

/** Resolves at the first signal; a later one aborts `hurry`. */
async function stopped(terminal: Terminal, hurry: AbortController): Promise<void> {
  const first = Promise.withResolvers<void>();
  let signals = 0;
  terminal.onSignal(() => {
    if (signals++ === 0) first.resolve();
    else hurry.abort();
  });
  await first.promise;
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

function problem(error: unknown, sid: string | null): string {
  const message = printable(messageOf(error));
  return `neuroscript: ${sid === null ? 'the store' : `session ${printable(sid)}`}: ${message}`;
}

interface Shared {
  readonly config: Config;
  readonly keyring: Keyring;
  readonly coordinator: SessionCoordinator;
  readonly store: SessionStore;
  readonly log: DecisionLog | null;
  readonly metrics: Metrics;
  readonly resources: AsyncDisposableStack;
  /** Takes interrupted turns in processes of their own; null in such a process. */
  readonly apart: TakeApart | null;
}

/** Makes what drives the sessions of one profile. It closes with `resources`. */
async function driverOf(
  profile: ConfigProfile,
  { config, keyring, coordinator, store, log, metrics, resources, apart }: Shared,
): Promise<Profile> {
  const agent = await readAgent(profile);
  const setup = await readSetup(profile, resources);
  const { ask, stores } = await readModels(profile, () => ({
    keyring,
    store,
    metrics,
    ...(log === null ? {} : { log }),
    leaseMs: config.leaseMs,
  }));
  const runtime = resources.use(
    await createRuntime({
      ...setup,
      limits: profile.limits,
      ask,
      tenants: config.tenants,
    }),
  );
  const controller = new LoopController({
    executor: runtimeExecutor(runtime, runtime.interpreter({ stores })),
    keyring,
    ids: randomIds,
    system: await systemOf(profile, setup, 'v3'),
    grammar: grammarOf(profile, setup),
    coordinator,
    metrics,
    ...(apart === null ? {} : { takeApart: apart }),
  });
  return {
    controller,
    options: (_, session) => ({
      agent,
      ...tightestCeilings(profile.ceilings, session),
      repair: profile.repair,
      wallMs: profile.maxTime,
      requiresApproval: profile.requireApproval ?? false,
      ...(session.tenant === '' ? {} : { tenant: session.tenant }),
    }),
  };
}
