import { z } from 'zod';
import { fields, later, type Path } from '../files/problem.ts';
import { YamlFile } from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { ConfigError } from '../wire/errors.ts';
import {
  type Check,
  checker,
  checkFlag,
  checkObject,
  checkText,
  listOf,
  required,
  timerMs,
  wholeNumber,
} from '../wire/options.ts';
import { authForm, checkAuth, type McpAuth, problemOfAuth, readAuth, variable } from './auth/config.ts';

/** A server that the host starts as a process and reaches over its standard streams. */
export interface StdioServer {
  /** The program to start. */
  readonly command: string;
  /** Arguments of the program; none when absent. */
  readonly args?: readonly string[];
  /** Variables in addition to `PATH`, `HOME` and the like. No other variable of this process is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Working directory of the program; that of this process when absent. */
  readonly cwd?: string;
}

/** A server that is reached over streamable HTTP. */
export interface HttpServer {
  /** Address of the server's endpoint. */
  readonly url: string;
  /** Headers of every request to the server. The authorization server does not get them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** How to get tokens for the server. */
  readonly auth?: McpAuth;
}

/** The settings of every kind of server. */
export interface McpBounds {
  /**
   * Timeout in milliseconds for connecting, for listing tools and for one call; 30,000 if absent. A progress report restarts the timeout
   * of its call, which may then take ten times as long.
   */
  readonly timeoutMs?: number;
  /** Maximum bytes of one message from the server; 4 MiB if absent. */
  readonly messageBytes?: number;
  /** The server's tools to offer; all tools if absent. */
  readonly tools?: readonly string[];
  /** The server's tools that change nothing. The host must say so, because a server is not trusted. */
  readonly readOnly?: readonly string[];
  /** What calls of its tools cost, by tool, in US dollars. The host must say so, because a server is not trusted. */
  readonly costs?: Readonly<Record<string, { readonly usd: number }>>;
  /** If true, the other servers are used without this one when it fails; if absent, its failure fails all. */
  readonly optional?: boolean;
  /** If true, the server may ask the user of a call; false if absent. */
  readonly elicit?: boolean;
}

/** The configuration of one server. */
export type McpServerConfig = (StdioServer | HttpServer) & McpBounds;

/** Servers by name. The name becomes the group of their tools: with `_` in place of `-` and `.`. */
export type McpConfig = Readonly<Record<string, McpServerConfig>>;

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;

/** The forms of a file and of its servers. */
const forms = later(() => {
  const texts = z.array(z.string());
  const secrets = z.record(z.string(), z.union([z.string(), fields({ env: z.string() })])).default({});
  const bounds = {
    // Other hosts write `type`, which is redundant here.
    type: z.unknown().optional(),
    timeoutMs: z.number().exactOptional(),
    messageBytes: z.number().exactOptional(),
    tools: texts.exactOptional(),
    readOnly: texts.exactOptional(),
    costs: z.record(z.string(), fields({ usd: z.number() })).exactOptional(),
    optional: z.boolean().exactOptional(),
    elicit: z.boolean().exactOptional(),
  };
  const stdio = fields({
    command: z.string(),
    args: texts.default([]),
    env: secrets,
    cwd: z.string().exactOptional(),
    ...bounds,
  });
  const http = fields({ url: z.string(), headers: secrets, auth: authForm().exactOptional(), ...bounds });
  const entry = z.looseObject({ command: z.unknown().optional(), url: z.unknown().optional() });
  const servers = z.record(z.string(), entry);
  const file = fields({ mcpServers: servers.exactOptional(), servers: servers.exactOptional() });
  return { file, http, stdio };
});

type Forms = ReturnType<typeof forms>;

/** Maximum number of servers of one configuration. */
const MAX_SERVERS = 64;

/** Defaults of {@link McpBounds}. */
export const DEFAULT_TIMEOUT_MS = 30_000;
export const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Reads a configuration file, YAML or JSON, of the form `{mcpServers: {name: {command, args, env} | {url, headers}}}` that
 * other hosts use; `servers` is an alias of `mcpServers`. A value of `env` or `headers` may be `{env: NAME}`, which reads it from
 * this process's environment, so that the file contains no secret. Throws {@link ConfigError} (`ERR_CONFIG`) with
 * file and line.
 */
export function readMcpConfig(text: string, name: string, environment: Readonly<NodeJS.ProcessEnv> = process.env): McpConfig {
  const file = new YamlFile(text, name);
  const { mcpServers, servers } = file.as(forms().file);
  const read = mcpServers ?? servers;
  if (read === undefined || (mcpServers !== undefined && servers !== undefined))
    return file.fail([], "must have the one key 'mcpServers'");
  const key = mcpServers === undefined ? 'servers' : 'mcpServers';
  return checkMcpConfig(
    Object.fromEntries(Object.entries(read).map(([id, entry]) => [id, readServer(file, [key, id], entry, environment)])),
    name,
  );
}

const textsByName: Check = (what, value) => {
  checkObject(what, value);
  for (const [key, text] of Object.entries(value)) checkText(`${what}.${key}`, text);
};

/** What a call costs is checked where the tools are made. */
const BOUNDS = {
  timeoutMs: timerMs(1),
  messageBytes: wholeNumber(1024),
  tools: listOf(checkText),
  readOnly: listOf(checkText),
  costs: checkObject,
  optional: checkFlag,
  elicit: checkFlag,
};

const CHECKS = {
  command: checker<StdioServer & McpBounds>({
    ...{ command: required(checkText), args: listOf(checkText), env: textsByName, cwd: checkText },
    ...BOUNDS,
  }),
  url: checker<HttpServer & McpBounds>({ url: required(checkText), headers: textsByName, auth: checkAuth, ...BOUNDS }),
} as const;

/** Throws {@link ConfigError} (`ERR_CONFIG`) that names the server and the field. */
export function checkMcpConfig(config: McpConfig, name = 'the MCP configuration'): McpConfig {
  checkObject(name, config);
  const entries = Object.entries(config);
  if (entries.length > MAX_SERVERS) throw new ConfigError(`${name}: there may be ${MAX_SERVERS} servers, not ${entries.length}`);
  const groups = new Map<string, string>();
  for (const [id, server] of entries) {
    const what = `${name}, server '${id}'`;
    const fail = (problem: string): never => {
      throw new ConfigError(`${what}: ${problem}`);
    };
    const group = scriptName(id).toLowerCase();
    if (!NAME.test(id) || group === 'tool') fail('a name has letters, digits, _, - and ., at most 100, and is not "tool"');
    const other = groups.get(group);
    if (other !== undefined) fail(`'${other}' has the same name in a script, '${group}'; rename one of them`);
    groups.set(group, id);
    checkObject(what, server);
    if ('url' in server === 'command' in server) fail("it must have either 'command' or 'url'");
    CHECKS['url' in server ? 'url' : 'command'](what, server);
    if ('url' in server && !isHttp(server.url)) fail('url must be an http or https address');
    if ('command' in server && server.command === '') fail('command must not be empty');
    const problem = 'url' in server ? problemOfHttp(server) : problemOfStdio(server);
    if (problem !== null) fail(problem);
  }
  return config;
}

function readServer(file: YamlFile, path: Path, entry: object, environment: Readonly<NodeJS.ProcessEnv>): McpServerConfig {
  const http = 'url' in entry;
  if (http === 'command' in entry) return file.fail(path, "must have either 'command' or 'url'");
  const secrets = (key: string, of: z.infer<Forms['stdio']>['env']): Readonly<Record<string, string>> =>
    Object.fromEntries(
      Object.entries(of).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : variable(file, [...path, key, name], value.env, environment),
      ]),
    );
  if (http) {
    const { type: _, headers, auth, ...rest } = file.part(forms().http, path, entry);
    const tokens = auth && readAuth(file, [...path, 'auth'], auth, environment);
    return { ...rest, headers: secrets('headers', headers), ...defined({ auth: tokens }) };
  }
  const { type: _, env, ...rest } = file.part(forms().stdio, path, entry);
  return { ...rest, env: secrets('env', env) };
}

/** Refuses values that the platform would quote in its error messages, because they may be secrets. */
function problemOfHttp({ url, headers = {}, auth }: HttpServer): string | null {
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') return 'url must hold no user or password; give a header';
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'headers has a name that no header can have';
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return `the header ${name} holds characters that no header can hold`;
  }
  return auth === undefined ? null : problemOfAuth(auth, url, headers);
}

function problemOfStdio({ command, args = [], env = {} }: StdioServer): string | null {
  if ([command, ...args].some((word) => word.includes('\0'))) return 'command and args must be without the character 0';
  for (const [name, value] of Object.entries(env))
    if (name.includes('\0') || value.includes('\0')) return 'env must be without the character 0';
  return null;
}

/** The values of a server's headers, environment and client. Messages about the server must not contain them. */
export function secretsOf(server: McpServerConfig): readonly string[] {
  if ('command' in server) return Object.values(server.env ?? {});
  const { clientSecret, privateKey } = server.auth ?? {};
  return [...Object.values(server.headers ?? {}), clientSecret, privateKey].filter((secret) => secret !== undefined);
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

/**
 * Reads one `--mcp` of the command line: `NAME=COMMAND ARG…` (split at white space, without shell syntax) or `NAME=URL`. Null for
 * any other text, which is the name of a file. Throws {@link ConfigError} (`ERR_CONFIG`).
 */
export function parseMcpSpec(spec: string): McpConfig | null {
  const found = /^([A-Za-z0-9_][A-Za-z0-9_.-]*)=(.+)$/s.exec(spec);
  const [, id, rest = ''] = found ?? [];
  if (id === undefined) return null;
  const [command = '', ...args] = rest.trim().split(/\s+/);
  return checkMcpConfig({ [id]: isHttp(rest.trim()) ? { url: rest.trim() } : { command, args } }, `--mcp ${id}`);
}

/** The name of a server or of its tool as an identifier: `_` replaces every other character, and stands before a digit. */
export function scriptName(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_]/g, '_').slice(0, 100);
  return /^[A-Za-z_]/.test(plain) ? plain : `_${plain}`;
}
