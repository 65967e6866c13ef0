import { once } from 'node:events';
import type { Command } from 'commander';
import { ReplayCache } from '../../aeiou/index.ts';
import { randomIds, runtimeExecutor, systemClock } from '../../loop/index.ts';
import { isPostgresUrl } from '../../postgres/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { PolicyGuard } from '../../tools/index.ts';
import { addLimits, limitsOf, texts, wholeNumber } from '../flags/options.ts';
import { addSetup, readSetup, type SetupFlags, usable } from '../flags/setup.ts';
import { storeFile, storeName } from '../flags/store.ts';
import { errorPages } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Execute, Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';
import { addLogins } from './mcplogin.ts';

interface McpFlags extends SetupFlags {
  readonly keys?: string;
  readonly askUser?: true;
  readonly store?: string;
  readonly http?: number;
  readonly allowHost?: readonly string[];
}

const HELP = `
A client of the Model Context Protocol starts this command and talks to it over
standard input and output. The server offers run, check, turn and tools. Every
program runs in a sandbox of its own, under the limits, tools and policy of
this command line. With --http it serves any number of clients at one address;
it has no authentication, so let only a proxy that has some offer it to others.

In a client's configuration:
  {"mcpServers": {"neuroscript": {"command": "neuroscript",
    "args": ["mcp", "--tools", "tools.yaml", "--fuel", "1e6"]}}}
`;

/** `mcp`: serves this runtime to MCP hosts, over standard input and output or over HTTP. */
export function addMcp(program: Command, execute: Execute): void {
  const command = program
    .command('mcp')
    .summary('offer this runtime to an MCP host')
    .description('Offers run, check, turn and tools over the Model Context Protocol, on standard input and output or HTTP.')
    .option('--keys <FILE>', 'key file for turns, see "neuroscript keys" (default: new keys for this process)')
    .option('--ask-user', 'let programs ask the user of a client that can ask, with promptuser')
    .option('--store <FILE>', 'with --ask-user: the file in which programs wait for the user (default: memory)')
    .option('--http <PORT>', 'serve over HTTP on this port of 127.0.0.1 instead; 0 chooses one', wholeNumber('--http', 0))
    .option(
      '--allow-host <NAME>',
      'with --http: another name by which clients may reach the server, such as that of a proxy (texts)',
      texts,
    );
  addLogins(command, execute);
  addSetup(command);
  addLimits(command, 'run')
    .addHelpText('after', HELP)
    .action((flags: McpFlags) => execute((terminal) => serve(flags, terminal)));
}

async function serve(flags: McpFlags, terminal: Terminal): Promise<ExitCode> {
  // `--help` loads this file too, and the SDK of the protocol takes longer to load than everything else.
  const { mcpServers, ProgramFile, serveHttp, serveStdio } = await import('../../mcp/index.ts');
  const clock = systemClock;
  const keyring = readKeyring(flags.keys, clock);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  const place = placeOfPrograms(flags);
  const kept = place === null ? {} : { programs: resources.use(await usable(() => ProgramFile.open(place))) };
  await using runtime = await createRuntime({ ...setup, limits: limitsOf({ ...flags }) });
  const turns = { executor: runtimeExecutor(runtime), keyring, clock, ids: randomIds, replay: new ReplayCache({ clock }) };
  // Lists leave out tools that the policy denies, because the client can never call them.
  const guard = new PolicyGuard(setup.policy);
  const tools = setup.tools.filter((tool) => guard.denial(tool, false) === null);
  const askUser = flags.askUser === true;
  const servers = mcpServers({ runtime, turns, tools, version: VERSION, errors: errorPages, askUser, ...kept });
  if (flags.http === undefined) {
    if (flags.allowHost !== undefined) throw new UsageError('--allow-host needs --http');
    await serveStdio(servers, terminal.interrupt);
    return EXIT.ok;
  }
  await using http = await serveHttp(servers, { port: flags.http, hosts: flags.allowHost ?? [] });
  terminal.err.line(`neuroscript: serving ${http.url}`);
  if (!terminal.interrupt.aborted) await once(terminal.interrupt, 'abort');
  return EXIT.ok;
}

/** The file in which programs wait; null for the memory. */
function placeOfPrograms({ store, askUser }: McpFlags): string | null {
  if (store === undefined) return null;
  if (askUser === undefined) throw new UsageError('--store needs --ask-user: only programs that ask the user wait');
  const file = storeFile(store);
  if (file !== null && isPostgresUrl(file))
    throw new UsageError(`--store ${storeName(file)} names a database; programs that wait need a file`);
  return file;
}
