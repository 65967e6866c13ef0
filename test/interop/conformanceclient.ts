/** The client that the conformance suite starts: a program of this runtime that calls the tools of the suite's server. */
import { setImmediate } from 'node:timers/promises';
import { z } from 'zod';
import { SILENT_LOGGER } from '../../src/context/index.ts';
import { createRuntime } from '../../src/entries/index.ts';
import { type HttpServer, type McpAuth, type McpBounds, McpLogins, McpSource } from '../../src/mcp/index.ts';
import type { JsonSchema, ToolDefinition } from '../../src/tools/index.ts';
import { tempFolder } from '../folder.ts';

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';

/** What the suite tells the client: the calls that it wants, and the client that it has registered. */
const context = z
  .looseObject({
    toolCalls: z.array(z.object({ name: z.string(), arguments: z.unknown() })).optional(),
    client_id: z.string().optional(),
    client_secret: z.string().optional(),
    private_key_pem: z.string().optional(),
    issuer: z.string().optional(),
  })
  .parse(JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}'));
const server: HttpServer & McpBounds = { url, elicit: true, timeoutMs: 20_000, auth: await authOf() };
const logins = new McpLogins(tempFolder());
await using source = await withLogins(() => McpSource.connect({ s: server }, { authorize }));
// A user who presses enter at every question takes the defaults.
const stdin = async function* () {
  for (;;) yield await setImmediate('\n');
};
await using runtime = await createRuntime({
  tools: source.tools,
  policy: { allow: ['tool.s.*'], grants: ['mcp:*:s'] },
});
const host = { logger: SILENT_LOGGER, stdin: stdin(), stdout: process.stderr };

/** The calls that the scenario wants, and one of every other tool. */
const own = source.tools.filter(({ capabilities }) => capabilities.some(({ verbs }) => verbs.includes('call')));
const wanted = (context.toolCalls ?? []).map((call) => ({ name: `tool.s.${call.name}`, given: call.arguments }));
const others = own.filter(({ name }) => !wanted.some((call) => call.name === name));
const calls = [...wanted, ...others.map((tool) => ({ name: tool.name, given: argumentsFor(tool) }))];
for (const { name, given } of calls) {
  await withLogins(async () => {
    const { error } = await runtime.run(`command\n  emit ${name}(given)\nendcommand`, { host, values: { given } });
    if (error !== null) throw new Error(`${name}: ${error.code} ${error.message}`);
  }).catch((error: unknown) => process.stderr.write(`${String(error)}\n`));
}

/** The configuration of the client: as the suite has registered it, else nothing but the address of its metadata. */
async function authOf(): Promise<McpAuth> {
  const { client_id: clientId, client_secret: clientSecret, private_key_pem: privateKey } = context;
  if (scenario === 'auth/basic-cimd') return { clientMetadataUrl: 'https://conformance-test.local/client-metadata.json' };
  if (clientId === undefined) return {};
  const client = { clientId, issuer: context.issuer ?? (await issuerOf()) };
  if (privateKey !== undefined) return { ...client, privateKey, grant: 'client_credentials' };
  const own = scenario.startsWith('auth/client-credentials') ? ({ grant: 'client_credentials' } as const) : {};
  return { ...client, ...own, clientSecret };
}

/** The issuer that an operator would have written into the configuration. */
async function issuerOf(): Promise<string> {
  const response = await fetch(new URL('/.well-known/oauth-protected-resource/mcp', url));
  return z.object({ authorization_servers: z.tuple([z.string()]) }).parse(await response.json()).authorization_servers[0];
}

function authorize(name: string, config: HttpServer) {
  return config.auth?.grant === 'client_credentials' ? undefined : logins.tokens(name, config);
}

/** Does something, and logs in as often as the server wants it, but at most three times. */
async function withLogins<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let left = 3; ; left -= 1) {
    try {
      return await work();
    } catch (error) {
      if (left === 0 || !String(error).includes('it wants a login')) throw error;
      await logins.login('s', server, { open: (address) => void visit(address), timeoutMs: 10_000 });
    }
  }
}

/** The browser: the suite consents by a redirect to the client. */
async function visit(address: string): Promise<void> {
  const response = await fetch(address, { redirect: 'manual' });
  const location = response.headers.get('location');
  if (location !== null) await fetch(location);
}

/** Arguments that fit a tool: the required keys, each with a value of its type. */
function argumentsFor({ parameters: [parameter] }: ToolDefinition): unknown {
  return sample(parameter?.schema ?? {});
}

function sample({ type, properties = {}, required = [], enum: choices, anyOf, const: only }: JsonSchema): unknown {
  if (only !== undefined) return only;
  if (choices !== undefined) return choices[0];
  if (anyOf?.[0] !== undefined) return sample(anyOf[0]);
  switch ([type].flat()[0]) {
    case 'object':
      return Object.fromEntries(required.map((key) => [key, sample(properties[key] ?? {})]));
    case 'array':
      return [];
    case 'boolean':
      return true;
    case 'number':
    case 'integer':
      return 5;
    case undefined:
    case 'null':
      return null;
    default:
      return 'text';
  }
}
