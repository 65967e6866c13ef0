import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { generateKeys, keyringFrom } from '../../aeiou/index.ts';
import { LoopController, runtimeExecutor, systemClock } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { canonicalName } from '../../tools/index.ts';
import type { Answers, Assets } from '../../ui/index.ts';
import { launcherOption, wholeNumber } from '../flags/options.ts';
import { readSetup, type SetupFlags } from '../flags/setup.ts';
import { addStore, type OpenedStore, openStore, storeFile, storeName } from '../flags/store.ts';
import { PACKAGE } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { logOf, usably } from './drive.ts';
import { readKeyring } from './keys.ts';

interface UiFlags extends Pick<SetupFlags, 'tools' | 'launcher'> {
  readonly store?: string;
  readonly log?: string;
  readonly port: number;
  readonly keys?: string;
  readonly approve?: true;
}

const MOST_PORT = 65_535;

const HELP = `
The command prints an address of this machine. The first browser that opens it
gets in, and the address is used up. The page shows sessions while loops run,
in this or other processes: turns, calls, errors, tokens, the log. It executes
recorded turns again and tries out changes, without tools. It can cancel a
session. With --approve it also answers calls that wait, which never executes
an approved plan of the gate. The answer to the plan of a turn is signed: it
needs --keys, the key file with which the session goes on.

Example:
  neuroscript ui --store jobs.db --log decisions.jsonl
`;

export function addUi(program: Command, execute: Execute): void {
  const command = program
    .command('ui')
    .summary('look at sessions in a browser')
    .description('Serves a page on 127.0.0.1 that shows the sessions of a store, and tries them out.');
  addStore(command)
    .option('--port <N>', 'port of 127.0.0.1; 0 chooses a free one', wholeNumber('--port', 0), 0)
    .option('--log <FILE>', 'the decision log (default: the one in the store)')
    .option('--keys <FILE>', 'verify tokens of replayed turns with these keys, and sign answers to plans')
    .option('--approve', 'let the page answer calls and plans that wait')
    .option('--tools <FILE>', 'the tools whose calls may be answered, with --approve')
    .addOption(launcherOption())
    .addHelpText('after', HELP)
    .action(execute(usably(serve)));
}

async function serve(flags: UiFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.port > MOST_PORT) throw new UsageError(`--port must be at most ${MOST_PORT}`);
  if (flags.tools !== undefined && flags.approve === undefined) throw new UsageError('--tools needs --approve');
  const assets = await builtPage();
  await using resources = new AsyncDisposableStack();
  const store = resources.use(await openStore(flags.store, { mustExist: true }));
  const { serveUi } = await import('../../ui/index.ts');
  const inspector = resources.use(await openInspector(store, flags, resources));
  const server = resources.use(
    await serveUi({ inspector, assets, port: flags.port, onError: (error) => terminal.err.prose(problem(error)) }).catch(
      unusablePort,
    ),
  );
  terminal.out.line(`Open ${server.url}`);
  terminal.err.prose('neuroscript: the address works once; Ctrl-C ends the server');
  await stopped(terminal);
  return EXIT.ok;
}

/** The inspector of a store, for a page or a file. It closes what it opened with `resources`. */
export async function openInspector(store: OpenedStore, flags: Omit<UiFlags, 'port'>, resources: AsyncDisposableStack) {
  const { fileLog, Inspector, storedLog } = await import('../../ui/index.ts');
  const place = storeName(storeFile(flags.store) ?? '');
  return new Inspector({
    store,
    place,
    log: flags.log === undefined ? storedLog(store.log, place) : fileLog(flags.log),
    decisions: logOf(flags.log, store),
    clock: systemClock,
    version: VERSION,
    openRuntime: () =>
      createRuntime({ tools: [], policy: { allow: ['*'], grants: ['*:*:*'] }, concurrency: 1, launcher: flags.launcher }),
    answers: flags.approve === undefined ? null : await answersOf(store, flags, resources),
    keys: flags.keys === undefined ? undefined : readKeyring(flags.keys, systemClock),
  });
}

/** The page that the package brings along. Throws {@link UsageError} in a clone where it is not built. */
export async function builtPage(): Promise<Assets> {
  const { readAssets } = await import('../../ui/index.ts');
  const assets = readAssets(fileURLToPath(new URL('apps/inspector/dist/', PACKAGE)));
  if (assets === null)
    throw new UsageError('the page is not built; run: npm --prefix apps/inspector ci && npm --prefix apps/inspector run build');
  return assets;
}

/** Answers calls of the tools that a flag names. Answers are checked against the tools, which never run. */
async function answersOf(
  store: OpenedStore,
  { tools, launcher, keys }: Pick<UiFlags, 'tools' | 'launcher' | 'keys'>,
  resources: AsyncDisposableStack,
): Promise<Answers> {
  const setup = await readSetup({ tools, launcher }, resources);
  const runtime = resources.use(await createRuntime({ ...setup, concurrency: 1 }));
  // Without a key file, nothing is signed.
  const keyring = keys === undefined ? keyringFrom(generateKeys('none'), { clock: systemClock }) : readKeyring(keys, systemClock);
  const controller = new LoopController({ executor: runtimeExecutor(runtime), keyring, store });
  const gated = new Set(setup.tools.filter(({ requiresApproval }) => requiresApproval).map((tool) => tool.canonicalName));
  return {
    refusal: ({ tool, plan }) => {
      if (plan !== undefined) return keys === undefined ? UNSIGNED : null;
      return gated.has(canonicalName(tool)) ? 'a plan of the gate: answer it with "neuroscript gate approve"' : null;
    },
    complete: (sid, call, answer) => controller.complete(sid, call, answer),
  };
}

const UNSIGNED = 'the answer to a plan is signed: start "neuroscript ui" with --approve --keys FILE';

function unusablePort(cause: unknown): never {
  if (cause instanceof Error && 'code' in cause && 'syscall' in cause)
    throw new UsageError(`cannot listen on 127.0.0.1: ${cause.message}; choose another --port`, { cause });
  throw cause;
}

/** Resolves at the first signal, or when the reader of standard output closes its end. */
async function stopped(terminal: Terminal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  terminal.onSignal(() => resolve());
  terminal.interrupt.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}

function problem(error: unknown): string {
  return `neuroscript: ${printable(error instanceof Error ? error.message : String(error))}`;
}
