import { once } from 'node:events';
import { ReplayCache } from '../../aeiou/index.ts';
import { randomIds, runtimeExecutor, systemClock } from '../../loop/index.ts';
import { mcpServers, ProgramFile, serveHttp, serveStdio } from '../../mcp/index.ts';
import { isPostgresUrl } from '../../postgres/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import { VERSION } from '../../runtime/version.ts';
import { PolicyGuard } from '../../tools/index.ts';
import { limitsOf } from '../flags/options.ts';
import { readSetup, type SetupFlags, usable } from '../flags/setup.ts';
import { storeFile, storeName } from '../flags/store.ts';
import { errorPages } from '../packagefiles.ts';
import { EXIT, type ExitCode } from '../terminal/exit.ts';
import { UsageError } from '../terminal/failure.ts';
import type { Terminal } from '../terminal/terminal.ts';
import { readKeyring } from './keys.ts';

export interface McpFlags extends SetupFlags {
  readonly keys?: string;
  readonly askUser?: true;
  readonly store?: string;
  readonly http?: number;
  readonly allowHost?: readonly string[];
  readonly origin?: readonly string[];
}

/** Serves MCP hosts until the input ends or an interrupt. */
export async function serveMcp(flags: McpFlags, terminal: Terminal): Promise<ExitCode> {
  const clock = systemClock;
  const keyring = readKeyring(flags.keys, clock);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources);
  const place = placeOfPrograms(flags);
  const kept = place === null ? {} : { programs: resources.use(await usable(() => ProgramFile.open(place))) };
  await using runtime = await createRuntime({ ...setup, limits: limitsOf(flags) });
  const turns = { executor: runtimeExecutor(runtime), keyring, clock, ids: randomIds, replay: new ReplayCache({ clock }) };
  // Lists leave out tools that the policy denies, because the client can never call them.
  const guard = new PolicyGuard(setup.policy);
  const tools = setup.tools.filter((tool) => guard.denial(tool, false) === null);
  const askUser = flags.askUser === true;
  const servers = mcpServers({ runtime, turns, tools, version: VERSION, errors: errorPages, askUser, ...kept });
  if (flags.http === undefined) {
    for (const [name, given] of Object.entries({ '--allow-host': flags.allowHost, '--origin': flags.origin }))
      if (given !== undefined) throw new UsageError(`${name} needs --http`);
    await serveStdio(servers, terminal.interrupt);
    return EXIT.ok;
  }
  await using http = await serveHttp(servers, { port: flags.http, hosts: flags.allowHost ?? [], origins: flags.origin ?? [] });
  terminal.err.prose(`neuroscript: serving ${http.url}`);
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
