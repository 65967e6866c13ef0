/**
 * A server of Restate for tests, from the package of npm. It listens on random ports of loopback alone, its files go into a new folder,
 * and it reports nothing home.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { freePort } from './server.ts';

const START_MS = 60_000;

const HERE = dirname(fileURLToPath(import.meta.url));

/** Arguments of Node that let a process find the SDK. */
export const WITH_SDK: readonly string[] = ['--import', pathToFileURL(join(HERE, 'resolve.mjs')).href];

/** An answer of a server. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a request and reads the JSON of its answer. */
export async function post(url: string, body?: unknown, method = 'POST'): Promise<Answered> {
  const json = body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, { method, ...json });
  const text = await response.text();
  return { status: response.status, body: text === '' ? null : JSON.parse(text) };
}

/** A server that runs. */
export interface RestateServer extends AsyncDisposable {
  /** Where handlers are called. */
  readonly ingress: string;
  /** Where endpoints are registered and invocations are cancelled. */
  readonly admin: string;
  readonly pid: number;
  /** Makes an endpoint known, so that its handlers are called. */
  register(uri: string): Promise<void>;
  /** Ends it as a loss of power does. */
  kill(): Promise<void>;
  /** Starts it again on the same ports and the same files. */
  start(): Promise<void>;
}

/** Starts a server of its own. */
export async function startRestate(): Promise<RestateServer> {
  const name = `${process.platform}-${process.arch}`;
  const binary = join(HERE, 'node_modules/@restatedev', `restate-server-${name}`, 'bin/restate-server');
  if (!existsSync(binary)) throw new Error('no server of Restate: run npm ci --ignore-scripts in apps/lab/engines');
  const data = mkdtempSync(join(tmpdir(), 'restate-'));
  const [node, admin, ingress] = [await freePort(), await freePort(), await freePort()];
  const env = {
    PATH: '/usr/sbin:/usr/bin:/sbin:/bin',
    RESTATE_DISABLE_TELEMETRY: 'true',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_BIND_PORT: String(node),
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_DEFAULT_NUM_PARTITIONS: '1',
    RESTATE_NODE_NAME: 'tests',
    RESTATE_ROCKSDB_TOTAL_MEMORY_SIZE: '128MiB',
    RESTATE_LOG_FILTER: 'warn',
  };
  const [command = binary, ...args] = [...offline(data), binary, '--no-logo', '--base-dir', join(data, 'data')];
  const urls = { ingress: `http://127.0.0.1:${ingress}`, admin: `http://127.0.0.1:${admin}` };
  let server: ChildProcess | null = null;
  const kill = async (): Promise<void> => {
    const before = server;
    if (before === null || before.exitCode !== null || before.signalCode !== null) return;
    const gone = new Promise((resolve) => before.once('exit', resolve));
    before.kill('SIGKILL');
    await gone;
  };
  const start = async (): Promise<void> => {
    const next = spawn(command, args, { env, cwd: data, stdio: 'ignore' });
    server = next;
    for (const until = performance.now() + START_MS; ; await sleep(50)) {
      const healthy = await Promise.all([answers(`${urls.ingress}/restate/health`), answers(`${urls.admin}/health`)]);
      if (healthy.every(Boolean)) return;
      if (next.exitCode !== null || performance.now() > until) throw new Error(`the server did not start (${next.exitCode})`);
    }
  };
  await start();
  return {
    ...urls,
    get pid() {
      return server?.pid ?? 0;
    },
    async register(uri) {
      const { status, body } = await post(`${urls.admin}/deployments`, { uri });
      if (status !== 201) throw new Error(`the endpoint is not registered: ${status} ${JSON.stringify(body)}`);
    },
    kill,
    start,
    async [Symbol.asyncDispose]() {
      await kill();
      rmSync(data, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    },
  };
}

/**
 * A command that runs another one where the name of GitHub leads to this machine, if the system allows that. At each start the server asks
 * GitHub for its latest release, and no setting stops it.
 */
function offline(folder: string): readonly string[] {
  if (spawnSync('unshare', ['-r', '-m', 'true']).status !== 0) return [];
  const hosts = join(folder, 'hosts');
  writeFileSync(hosts, '127.0.0.1 localhost api.github.com\n');
  return ['unshare', '-r', '-m', 'sh', '-c', 'mount --bind "$0" /etc/hosts && exec "$@"', hosts];
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    // Nobody listens yet.
    return false;
  }
}
