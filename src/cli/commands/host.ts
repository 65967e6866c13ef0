import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import type { Command } from 'commander';
import { FileLog, systemClock } from '../../loop/index.ts';
import { printable } from '../../report/index.ts';
import { refusalOf, type ServiceHost, serveClient } from '../../rpc/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import { BusyError, ConfigError } from '../../wire/errors.ts';
import { messageOf } from '../../wire/unknown.ts';
import { addLimits, limitsOf } from '../flags/options.ts';
import { LOG } from '../flags/session.ts';
import { addSetup, readSetup, type SetupFlags } from '../flags/setup.ts';
import { openStore } from '../flags/store.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import { fileTrouble, mustAppend } from '../terminal/input.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

interface HostFlags extends SetupFlags {
  readonly socket?: string;
  readonly keys?: string;
  readonly store?: string;
  readonly log?: string;
}

const HELP = `
A program in any language starts this command and talks to it in JSON-RPC 2.0,
one message a line. The first request is initialize, which says what tools the
program offers; then it runs, checks and foresees programs and drives sessions,
and answers the calls of its tools. docs/embedding.md describes the protocol,
clients/python has a client for Python.

With --socket, each connection is a client with tools, workers and sessions of
its own. Only your user can connect.
`;

export function addHost(program: Command, execute: Execute): void {
  const command = program
    // Other programs start it; the list of commands is for people.
    .command('host', { hidden: true })
    .summary('serve a program in another language')
    .description('Serves JSON-RPC 2.0, one message a line, on standard input and output or on a Unix socket.')
    .option('--socket <PATH>', 'serve the clients that connect to this Unix socket instead')
    .option('--keys <FILE>', 'key file for turns and sessions (default: new keys for this process)')
    .option('--store <FILE>', 'the file with the sessions, or postgres://… (default: memory)')
    .option(...LOG);
  addSetup(command);
  addLimits(command, 'run').addHelpText('after', HELP).action(execute(host));
}

async function host(flags: HostFlags, terminal: Terminal): Promise<ExitCode> {
  if (flags.log !== undefined) mustAppend(flags.log);
  const limits = limitsOf(flags);
  await using resources = new AsyncDisposableStack();
  const store = flags.store === undefined ? null : resources.use(await openStore(flags.store, { mustExist: false }));
  const keyring = readKeyring(flags.keys, systemClock);
  const log = flags.log === undefined ? undefined : new FileLog(flags.log);
  const serviceWith = (own: AsyncDisposableStack): ServiceHost => ({
    ...{ keyring, clock: systemClock, store: store ?? undefined, log },
    async open({ tools, policy }): Promise<Runtime> {
      if (policy !== null && flags.policy !== undefined)
        throw new ConfigError('the host was started with a policy, which decides; leave out that of initialize');
      const setup = await readSetup(flags, own, terminal, { tools, policy });
      return createRuntime({ ...setup, limits });
    },
  });
  const { interrupt } = terminal;
  // What was opened for a client, such as MCP servers, ends with it.
  const serveOne = async (streams: Parameters<typeof serveClient>[0]): Promise<void> => {
    await using own = new AsyncDisposableStack();
    await serveClient(streams, serviceWith(own), interrupt);
  };
  if (flags.socket === undefined) {
    await serveOne({ input: terminal.stdin, output: process.stdout });
    return EXIT.ok;
  }
  const server = await listening(flags.socket);
  const clients = new Set<Promise<void>>();
  server.on('connection', (socket) => {
    if (clients.size >= MOST_CLIENTS) {
      const busy = new BusyError(`${MOST_CLIENTS} clients are connected, which is the most; connect again when one has left`);
      socket.on('error', () => {}).end(refusalOf(busy), () => socket.destroy());
      return;
    }
    const client = serveOne({ input: socket, output: socket })
      .catch((error: unknown) => terminal.err.prose(`neuroscript: a client: ${printable(messageOf(error))}`))
      .finally(() => {
        socket.destroy();
        clients.delete(client);
      });
    clients.add(client);
  });
  terminal.err.prose(`neuroscript: serving ${printable(flags.socket)}`);
  if (!interrupt.aborted) await once(interrupt, 'abort');
  server.close();
  await Promise.all(clients);
  return EXIT.ok;
}

/** Most clients of a socket at once: each has workers of its own. */
const MOST_CLIENTS = 16;

/** Listens on a Unix socket that only this user can open. Takes the place of a socket that nobody serves any more. */
async function listening(path: string): Promise<Server> {
  const server = createServer();
  const listen = async (): Promise<void> => {
    const mask = process.umask(0o177);
    server.listen(path);
    process.umask(mask);
    await once(server, 'listening');
  };
  try {
    await listen().catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EADDRINUSE' || (await isServed(path))) throw error;
      rmSync(path);
      await listen();
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : '';
    const why = code === 'EADDRINUSE' ? 'another process serves it' : fileTrouble(error, 'make');
    throw new UsageError(`cannot listen on ${printable(path)}: ${why}`, { cause: error });
  }
  return server;
}

/** Whether a process serves the socket; true for what is not a socket. */
async function isServed(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED');
  } finally {
    socket.destroy();
  }
}
