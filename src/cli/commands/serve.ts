import { unwatchFile, watchFile } from 'node:fs';
import { type Command, Option } from 'commander';
import {
  FileLog,
  Host,
  Metrics,
  SessionCoordinator,
  SessionLeasedError,
  SuspendedError,
  systemClock,
  type TakeApart,
  turnProcess,
} from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import type { LauncherChoice } from '../../sandbox/index.ts';
import { messageOf } from '../../wire/unknown.ts';
import { type Config, readConfig } from '../config/read.ts';
import { readTokenKeys } from '../flags/keyfiles.ts';
import { launcherOption, timeFlag, wholeNumber } from '../flags/options.ts';
import { addStore, openStore } from '../flags/store.ts';
import { whenBack } from '../serve/away.ts';
import { HostLines, LOG_FORMATS, type LogFormat } from '../serve/lines.ts';
import { openProfile, openProfiles, type Profiles, type Shared } from '../serve/profiles.ts';
import { Health } from '../serve/readiness.ts';
import { scrape, storeHistogram, timedStore } from '../serve/scrape.ts';
import { serveStatus } from '../serve/status.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { exitOfThrown } from '../terminal/failure.ts';
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
  readonly launcher?: LauncherChoice;
  readonly logFormat: LogFormat;
  readonly take?: string;
}

const HELP = `
Any number of hosts may serve one store: each session is driven by one of them
at a time, and by another one when its host dies. "neuroscript sessions open"
puts sessions into the store.

SIGTERM or SIGINT drains: the host claims nothing more, lets every turn be
decided, and leaves the sessions to other hosts. A second signal, or the end of
--drain, gives up the turns that still run; other hosts run them again. SIGHUP
reads keys and profiles anew, for the turns that begin after it; a key file that
changes is read by itself.

A configuration (YAML or JSON; docs/schemas/config.schema.json):
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
  neuroscript serve --store sessions.db --config serve.yaml --launcher required
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
    .addOption(launcherOption())
    .addOption(new Option('--log-format <FORM>', 'the lines on standard error').choices(LOG_FORMATS).default('text'))
    // How a host starts a process for one turn: see `apart`.
    .addOption(new Option('--take <SID>').hideHelp())
    .addHelpText('after', HELP)
    .action(execute(told));
}

/** Serves. What ends a host, or its process for a turn, is said in the form of its other lines. */
async function told(flags: ServeFlags, terminal: Terminal): Promise<ExitCode> {
  const lines = new HostLines(terminal.err, flags.logFormat, () => systemClock.now());
  try {
    return await usable(() => serve(flags, terminal, lines));
  } catch (error) {
    if (flags.logFormat === 'text' && flags.take === undefined) throw error;
    lines.write('error', messageOf(error), flags.take ?? null);
    return exitOfThrown(error);
  }
}

async function serve(flags: ServeFlags, terminal: Terminal, lines: HostLines): Promise<ExitCode> {
  const config = await readConfig(flags.config);
  await using resources = new AsyncDisposableStack();
  const storeSeconds = storeHistogram();
  const opened = resources.use(await openStore(flags.store, { mustExist: false, listenUrl: flags.storeListen }));
  const store = timedStore(opened, storeSeconds);
  const log = config.log === undefined ? (store.log ?? null) : new FileLog(config.log);
  const coordinator = new SessionCoordinator({
    store,
    log,
    clock: systemClock,
    leaseMs: config.leaseMs,
    owner: flags.owner,
  });
  const metrics = new Metrics();
  const keyring = readKeyring(config.keys, systemClock);
  const shared = { keyring, coordinator, store, log, metrics, launcher: flags.launcher, apart: apart(flags) };
  if (flags.take !== undefined) return await take(flags.take, config, shared, terminal, lines);
  let profiles = await openProfiles(flags.config, config, shared);
  resources.defer(() => profiles[Symbol.asyncDispose]());
  if (config.keys === undefined)
    lines.write('warn', `${printable(flags.config)} names no keys; tokens are signed with new keys of this process`);
  tellLacks(profiles, lines);
  const host = new Host({
    coordinator,
    profiles: profiles.byName,
    concurrency: flags.concurrency,
    tenantConcurrency: config.tenantConcurrency,
    turnsPerClaim: config.turnsPerClaim,
    kids: () => keyring.list().map(({ kid }) => kid),
    onError: (error, sid) => lines.failed(error, sid),
  });
  terminal.beforeFailure(() => host.drain(0));
  const listen = flags.listen ?? config.listen;
  const health = new Health({ host, store, log });
  const view = (): Promise<string> => {
    const { runtimes, away } = profiles;
    const scraped = { host, coordinator, metrics, storeSeconds, health, runtimes, toolServersAway: away.length };
    return scrape(scraped, systemClock.now());
  };
  const state = () => host.state;
  const status = listen === undefined ? null : resources.use(await serveStatus({ listen, state, health, metrics: view }));
  /** Reads the keys anew. Every host that knows a key says so to the store, before another one signs with it. */
  const readKeys = async (): Promise<void> => {
    if (config.keys === undefined) return;
    try {
      keyring.replace(readTokenKeys(config.keys));
      // A beat that fails comes again by itself.
      await host.beat().catch(() => {});
      lines.write(
        'info',
        `knows the keys ${keyring
          .list()
          .map(({ kid, role }) => `${kid} (${role})`)
          .join(', ')}`,
      );
    } catch (error) {
      lines.failed(error, null, `${config.keys} was not read anew`);
    }
  };
  let current = config;
  const open = async (read: () => Promise<Config>): Promise<void> => {
    try {
      const wanted = await read();
      const next = await openProfiles(flags.config, wanted, shared);
      const before = profiles;
      [profiles, current] = [next, wanted];
      tellLacks(next, lines);
      lines.write('info', `drives turns that begin from now on with the profiles of ${flags.config} as it is now`);
      await host.use(next.byName);
      await before[Symbol.asyncDispose]();
    } catch (error) {
      lines.failed(error, null, `${flags.config} was not read anew, and the host goes on as before`);
    }
  };
  let opening = Promise.resolve();
  /** Opens the profiles anew, after those that are being opened. */
  const reopen = (read: () => Promise<Config>): Promise<void> => {
    opening = opening.then(() => open(read));
    return opening;
  };
  const reload = (): void =>
    void reopen(async () => {
      await readKeys();
      const wanted = await readConfig(flags.config);
      for (const key of AT_START)
        if (wanted[key] !== config[key])
          lines.write('warn', `${flags.config}: ${key} was changed, which this host sees when it is started again`);
      return wanted;
    });
  if (config.keys !== undefined) resources.use(watched(config.keys, () => void readKeys()));
  host.start();
  lines.write('info', `serving as ${coordinator.owner}${status === null ? '' : `, ${status.url}`}`);
  const [hurry, ended] = [new AbortController(), new AbortController()];
  const back = async (): Promise<void> => {
    lines.write('info', 'a server of tools that was away is back');
    await reopen(async () => current);
  };
  void whenBack(() => profiles, back, ended.signal);
  await stopped(terminal, hurry, reload);
  ended.abort();
  lines.write('info', `draining ${host.state.driving} sessions`);
  await host.drain(flags.drain, hurry.signal);
  lines.write('info', 'drained');
  return EXIT.ok;
}

/** Says what the confinement of the workers lacks, so that nobody believes it to be complete, and which tools are absent. */
function tellLacks({ runtimes, away }: Profiles, lines: HostLines): void {
  for (const { message } of away) lines.write('warn', `${message}; its tools are absent until it is back`);
  const lacks = new Set(runtimes.flatMap((runtime) => runtime.lacks.map(({ what, todo }) => `${what}; ${todo}`)));
  for (const lack of lacks) lines.write('warn', `ring 3 is not complete: ${lack}`);
}

/** Keys of a configuration that a host reads only when it starts. */
const AT_START = ['keys', 'log', 'listen', 'leaseMs', 'tenantConcurrency', 'turnsPerClaim'] as const;

/** Milliseconds between two looks at a key file. */
const LOOK_MS = 2000;

/** Calls `changed` when a file is another one, also through links, as those of secrets in containers. */
function watched(file: string, changed: () => void): Disposable {
  const look = (
    now: { readonly mtimeMs: number; readonly ino: number },
    before: { readonly mtimeMs: number; readonly ino: number },
  ) => {
    if (now.mtimeMs !== before.mtimeMs || now.ino !== before.ino) changed();
  };
  watchFile(file, { interval: LOOK_MS, persistent: false }, look);
  return { [Symbol.dispose]: () => unwatchFile(file, look) };
}

/** Starts a process of this command that takes one turn for this host. */
function apart({ store, config, launcher, logFormat }: ServeFlags): TakeApart {
  const [, script = ''] = process.argv;
  const same = [script, 'serve', '--config', config, '--log-format', logFormat];
  const more = [...(store === undefined ? [] : ['--store', store]), ...(launcher === undefined ? [] : ['--launcher', launcher])];
  return turnProcess(({ sid, owner }) => [...same, ...more, `--take=${sid}`, `--owner=${owner}`]);
}

/** Takes the next turn of one session, in a process that a host has started for it. Signals do not end the turn. */
async function take(sid: string, config: Config, shared: Shared, terminal: Terminal, lines: HostLines): Promise<ExitCode> {
  terminal.onSignal(() => {});
  await using resources = new AsyncDisposableStack();
  try {
    const { setup } = await shared.coordinator.claim(sid);
    const name = setup.profile === '' ? config.unnamed : setup.profile;
    const profile = config.profiles[name];
    if (profile === undefined) {
      lines.write('error', `this host has no profile '${name}'`, sid);
      return EXIT.usage;
    }
    const { controller, options } = (await openProfile(profile, config, { ...shared, apart: null }, resources)).profile;
    await controller.step(sid, options(sid, setup));
  } catch (error) {
    if (error instanceof SuspendedError) return EXIT.ok;
    const isLost = error instanceof SessionLeasedError;
    lines.write(isLost ? 'warn' : 'error', messageOf(error), sid);
    return isLost ? EXIT.cancelled : EXIT.runtime;
  }
  return EXIT.ok;
}

/** Resolves at the first signal that ends; a later one aborts `hurry`. SIGHUP reloads, but ends a host whose terminal was closed. */
async function stopped(terminal: Terminal, hurry: AbortController, reload: () => void): Promise<void> {
  const first = Promise.withResolvers<void>();
  let signals = 0;
  terminal.onSignal((signal) => {
    if (signal === 'SIGHUP' && !terminal.outIsTTY) reload();
    else if (signals++ === 0) first.resolve();
    else hurry.abort();
  });
  await first.promise;
}
