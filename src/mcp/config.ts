import { YamlFile } from '../tools/yaml.ts';
import { ConfigError } from '../wire/errors.ts';

/** A server that is started as a process and spoken to over its standard streams. */
export interface StdioServer {
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables besides `PATH`, `HOME` and the like; nothing else of this process's environment is passed on. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** A server that is reached over streamable HTTP. */
export interface HttpServer {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What is the same for every kind of server. */
export interface McpBounds {
  /** Most milliseconds of connecting, of listing tools, and of one call; 30 000 when absent. */
  readonly timeoutMs?: number;
  /** Most bytes of one message from the server; 4 MiB when absent. */
  readonly messageBytes?: number;
  /** The server's tools that are offered; all of them when absent. */
  readonly tools?: readonly string[];
  /** Those of its tools that change nothing: the host's word, for what a server says of itself does not count. */
  readonly readOnly?: readonly string[];
}

/** One server. */
export type McpServerConfig = (StdioServer | HttpServer) & McpBounds;

/** Servers by name; the name is the group of their tools. */
export type McpConfig = Readonly<Record<string, McpServerConfig>>;

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const BOUND_KEYS = ['timeoutMs', 'messageBytes', 'tools', 'readOnly'];
const STDIO_KEYS = ['command', 'args', 'env', 'cwd'];
const HTTP_KEYS = ['url', 'headers'];

/** Most servers of one configuration. */
const MAX_SERVERS = 64;

/** Defaults of {@link McpBounds}. */
export const DEFAULT_TIMEOUT_MS = 30_000;
export const DEFAULT_MESSAGE_BYTES = 4 * 1024 * 1024;

/**
 * Reads a configuration file, YAML or JSON, of the form `{mcpServers: {name: {command, args, env} | {url, headers}}}` that
 * other hosts use; `servers` is another word for `mcpServers`. A value of `env` or `headers` may be `{env: NAME}`, which takes
 * it from this process's environment, so that no secret stands in the file. Throws {@link ConfigError} (`ERR_CONFIG`) with
 * file and line.
 */
export function readMcpConfig(text: string, name: string, environment: Readonly<NodeJS.ProcessEnv> = process.env): McpConfig {
  const file = new YamlFile(text, name);
  const top = file.map([], file.value, ['mcpServers', 'servers']);
  const [key, ...more] = Object.keys(top);
  if (key === undefined || more.length > 0) return file.fail([], "must have the one key 'mcpServers'");
  const servers = file.map([key], top[key], null);
  return checkMcpConfig(
    Object.fromEntries(Object.entries(servers).map(([id, entry]) => [id, readServer(file, [key, id], entry, environment)])),
    name,
  );
}

/** Throws {@link ConfigError} (`ERR_CONFIG`) that names the server and the field. */
export function checkMcpConfig(config: McpConfig, name = 'the MCP configuration'): McpConfig {
  const entries = Object.entries(config);
  if (entries.length > MAX_SERVERS) throw new ConfigError(`${name}: there may be ${MAX_SERVERS} servers, not ${entries.length}`);
  for (const [id, server] of entries) {
    const fail = (problem: string): never => {
      throw new ConfigError(`${name}: server '${id}': ${problem}`);
    };
    if (!NAME.test(id) || id.toLowerCase() === 'tool') fail('a name has letters, digits and _, and is not "tool"');
    if ('url' in server && !isHttp(server.url)) fail('url must be an http or https address');
    if ('command' in server && server.command === '') fail('command must not be empty');
    const problem = 'url' in server ? problemOfHttp(server) : problemOfStdio(server);
    if (problem !== null) fail(problem);
    const { timeoutMs = DEFAULT_TIMEOUT_MS, messageBytes = DEFAULT_MESSAGE_BYTES } = server;
    if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > 2 ** 31 - 1) fail('timeoutMs must be whole, from 1');
    if (!Number.isSafeInteger(messageBytes) || messageBytes < 1024) fail('messageBytes must be whole, from 1024');
  }
  return config;
}

function readServer(
  file: YamlFile,
  path: readonly string[],
  entry: unknown,
  environment: Readonly<NodeJS.ProcessEnv>,
): McpServerConfig {
  const any = file.map(path, entry, null);
  const http = 'url' in any;
  if (http === 'command' in any) return file.fail(path, "must have either 'command' or 'url'");
  // `type` is what other hosts write; it says nothing that the other keys do not.
  const { type: _type, ...rest } = file.map(path, entry, ['type', ...(http ? HTTP_KEYS : STDIO_KEYS), ...BOUND_KEYS]);
  const texts = (key: string): readonly string[] =>
    file.list([...path, key], rest[key] ?? []).map((each, index) => file.text([...path, key, String(index)], each));
  const secrets = (key: string): Record<string, string> =>
    Object.fromEntries(
      Object.entries(file.map([...path, key], rest[key] ?? {}, null)).map(([name, value]) => [
        name,
        secretOf(file, [...path, key, name], value, environment),
      ]),
    );
  const bounds: McpBounds = {
    ...('timeoutMs' in rest ? { timeoutMs: numberOf(file, [...path, 'timeoutMs'], rest['timeoutMs']) } : {}),
    ...('messageBytes' in rest ? { messageBytes: numberOf(file, [...path, 'messageBytes'], rest['messageBytes']) } : {}),
    ...('tools' in rest ? { tools: texts('tools') } : {}),
    ...('readOnly' in rest ? { readOnly: texts('readOnly') } : {}),
  };
  if (http) return { url: file.text([...path, 'url'], rest['url']), headers: secrets('headers'), ...bounds };
  return {
    command: file.text([...path, 'command'], rest['command']),
    args: texts('args'),
    env: secrets('env'),
    ...('cwd' in rest ? { cwd: file.text([...path, 'cwd'], rest['cwd']) } : {}),
    ...bounds,
  };
}

function secretOf(file: YamlFile, path: readonly string[], value: unknown, environment: Readonly<NodeJS.ProcessEnv>): string {
  if (typeof value === 'string') return value;
  const variable = file.text([...path, 'env'], file.map(path, value, ['env'])['env']);
  return environment[variable] ?? file.fail(path, `the environment variable ${variable} is not set`);
}

function numberOf(file: YamlFile, path: readonly string[], value: unknown): number {
  return typeof value === 'number' ? value : file.fail(path, 'must be a number');
}

/** Whoever was given these would name them, secrets and all, in what it says of them. */
function problemOfHttp({ url, headers = {} }: HttpServer): string | null {
  const { username, password } = new URL(url);
  if (username !== '' || password !== '') return 'url must hold no user or password; give a header';
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'headers has a name that no header can have';
    if (!/^[\t\x20-\x7e\x80-\xff]*$/.test(value)) return `the header ${name} holds characters that no header can hold`;
  }
  return null;
}

function problemOfStdio({ command, args = [], env = {} }: StdioServer): string | null {
  if ([command, ...args].some((word) => word.includes('\0'))) return 'command and args must be without the character 0';
  for (const [name, value] of Object.entries(env))
    if (name.includes('\0') || value.includes('\0')) return 'env must be without the character 0';
  return null;
}

/** Shorter values are words, and no secrets. */
const MIN_SECRET = 8;

/** What a message about a server must not repeat, though the server does: the values of its headers and of its environment. */
export function secretsOf(server: McpServerConfig): readonly string[] {
  const values = Object.values(('url' in server ? server.headers : server.env) ?? {});
  // `Bearer` and what follows; a server may repeat one without the other.
  const parts = values.flatMap((value) => [value, ...value.split(/\s+/)]);
  return [...new Set(parts)].filter((part) => part.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
}

function isHttp(text: string): boolean {
  return URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol);
}

/**
 * One `--mcp` of the command line: `NAME=COMMAND ARG…` (split at blanks, nothing is interpreted) or `NAME=URL`. Null for
 * anything else, which is the name of a file. Throws {@link ConfigError} (`ERR_CONFIG`).
 */
export function parseMcpSpec(spec: string): McpConfig | null {
  const found = /^([A-Za-z_][A-Za-z0-9_]*)=(.+)$/s.exec(spec);
  const [, id, rest = ''] = found ?? [];
  if (id === undefined) return null;
  const [command = '', ...args] = rest.trim().split(/\s+/);
  return checkMcpConfig({ [id]: isHttp(rest.trim()) ? { url: rest.trim() } : { command, args } }, `--mcp ${id}`);
}
