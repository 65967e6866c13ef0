import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkMcpConfig } from '../../src/mcp/config.ts';
import { parseMcpSpec, readMcpConfig } from '../../src/mcp/index.ts';
import { ConfigError } from '../../src/wire/errors.ts';
import { tempFolder } from '../folder.ts';

const read = (text: string, environment: NodeJS.ProcessEnv = {}) => readMcpConfig(text, 'mcp.yaml', environment);

describe('a configuration of MCP servers', () => {
  it('has the form that other hosts use, in JSON or YAML', () => {
    const json = '{"mcpServers": {"files": {"type": "stdio", "command": "npx", "args": ["server", "."], "env": {"A": "b"}}}}';
    expect(read(json)).toEqual({ files: { command: 'npx', args: ['server', '.'], env: { A: 'b' } } });
    const yaml = 'servers:\n  web:\n    url: https://example.test/mcp\n    timeoutMs: 5000\n    tools: [search]\n';
    expect(read(yaml)).toEqual({ web: { url: 'https://example.test/mcp', headers: {}, timeoutMs: 5000, tools: ['search'] } });
  });

  it('takes secrets from the environment', () => {
    const text = 'mcpServers: { web: { url: "http://x.test", headers: { Authorization: { env: TOKEN } } } }';
    expect(read(text, { TOKEN: 'Bearer 1' })).toMatchObject({ web: { headers: { Authorization: 'Bearer 1' } } });
    expect(() => read(text)).toThrow(
      'mcp.yaml:1: mcpServers.web.headers.Authorization: the environment variable TOKEN is not set',
    );
  });

  it.each([
    ['[]', 'must be a map'],
    ['{}', "must have the one key 'mcpServers'"],
    ['mcpServers: {}\nservers: {}', "must have the one key 'mcpServers'"],
    ['mcpServers: { a: {} }', "must have either 'command' or 'url'"],
    ['mcpServers: { a: { command: x, url: "http://y.test" } }', "must have either 'command' or 'url'"],
    ['mcpServers: { a: { command: x, shell: true } }', 'unknown key'],
    ['mcpServers: { a: { command: 5 } }', 'must be a text'],
    ['mcpServers: { a: { command: "" } }', 'command must not be empty'],
    ['mcpServers: { a: { command: x, args: y } }', 'must be a list'],
    ['mcpServers: { a: { url: "file:///x" } }', 'url must be an http or https address'],
    ['mcpServers: { a: { url: "http://u:secret@y.test" } }', 'url must hold no user or password'],
    ['mcpServers: { a: { url: "http://y.test", headers: { X: "sec\\nret" } } }', 'the header X holds characters'],
    ['mcpServers: { a: { url: "http://y.test", headers: { X: "sec’ret" } } }', 'the header X holds characters'],
    ['mcpServers: { a: { url: "http://y.test", headers: { "X Y": z } } }', 'headers has a name that no header can have'],
    ['mcpServers: { a: { command: x, env: { A: "sec\\0ret" } } }', 'env must be without the character 0'],
    ['mcpServers: { a: { command: x, args: ["sec\\0ret"] } }', 'must be without the character 0'],
    ['mcpServers: { "a b": { command: x } }', 'a name has letters, digits, _, - and .'],
    ['mcpServers: { "-a": { command: x } }', 'a name has letters, digits, _, - and .'],
    [
      'mcpServers: { "a-b": { command: x }, "A.b": { command: y } }',
      "server 'A.b': 'a-b' has the same name in a script, 'a_b'; rename one of them",
    ],
    ['mcpServers: { a: { command: x, timeoutMs: 0 } }', 'timeoutMs must be a whole number from 1'],
    ['mcpServers: { a: { command: x, messageBytes: 10 } }', 'messageBytes must be a whole number from 1024'],
    ['mcpServers: { a: { command: x, timeoutMs: soon } }', 'must be a number'],
    ['mcpServers: { a: { command: x, env: { A: { env: 5 } } } }', 'must be a text'],
  ])('%s is refused: %s', (text, problem) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG', message: expect.stringContaining(problem) }));
    // What is wrong with a secret is said without it.
    expect(() => read(text)).not.toThrow(/sec\S*ret/);
  });

  it('says how to get tokens, with secrets from the environment or from private files', () => {
    const folder = tempFolder();
    const file = join(folder, 'key.pem');
    writeFileSync(file, 'PEM\n', { mode: 0o600 });
    const auth = (more: object) =>
      read(JSON.stringify({ servers: { a: { url: 'https://x.test', auth: more } } }), { S: 'sesame' });
    expect(auth({})).toMatchObject({ a: { auth: {} } });
    const client = { clientId: 'c', issuer: 'https://as.test', grant: 'client_credentials' };
    expect(auth({ ...client, clientSecret: { env: 'S' } })).toMatchObject({ a: { auth: { clientSecret: 'sesame' } } });
    expect(auth({ ...client, privateKey: { file } })).toMatchObject({ a: { auth: { privateKey: 'PEM' } } });
    chmodSync(file, 0o640);
    expect(() => auth({ ...client, privateKey: { file } })).toThrow(`auth.privateKey: others can access ${file}`);
    rmSync(folder, { recursive: true });
    expect(() => auth({ ...client, privateKey: { file } })).toThrow('ENOENT');
  });

  it.each([
    ['{ clientSecret: "sec-ret" }', 'auth.clientSecret: must be a map'],
    ['{ clientSecret: { env: S, file: f } }', "must have either 'env' or 'file'"],
    ['{ clientId: c, clientSecret: { env: S } }', 'auth.issuer is missing'],
    ['{ issuer: "https://a.test", clientSecret: { env: S } }', 'auth.clientId is missing'],
    ['{ issuer: "http://a.test" }', 'auth.issuer must be an https address'],
    ['{ grant: client_credentials }', 'auth.grant needs clientSecret or privateKey'],
    ['{ grant: password }', 'must be authorization_code or client_credentials'],
    ['{ issuer: "https://a.test", clientId: c, privateKey: { env: S } }', 'auth.privateKey needs grant'],
    ['{ algorithm: none }', 'auth.algorithm must be one of ES256'],
    ['{ clientId: c, clientMetadataUrl: "https://a.test/c" }', 'both clientId and clientMetadataUrl'],
    ['{ clientMetadataUrl: "https://a.test/" }', 'an https address with a path'],
    ['{ redirectPort: 70000 }', 'must be a port'],
    ['{ scopes: x }', 'unknown key'],
  ])('auth: %s is refused: %s', (auth, problem) => {
    const text = `servers: { a: { url: "https://x.test", auth: ${auth} } }`;
    expect(() => read(text, { S: 'sec-ret' })).toThrow(problem);
    expect(() => read(text, { S: 'sec-ret' })).not.toThrow(/sec-ret/);
  });

  it.each([
    [3, 'the MCP configuration must be an object, got number'],
    [{ s: 3 }, "the MCP configuration, server 's' must be an object, got number"],
    [{ s: {} }, "the MCP configuration, server 's': it must have either 'command' or 'url'"],
    [{ s: { command: 'x', url: 'https://x.test' } }, "it must have either 'command' or 'url'"],
    [{ s: { command: 4 } }, "server 's': command must be a text, got number"],
    [{ s: { command: 'x', args: 'y' } }, 'args must be a list, got string'],
    [{ s: { command: 'x', env: { A: 1 } } }, 'env.A must be a text, got number'],
    [{ s: { command: 'x', readonly: ['a'] } }, "unknown key 'readonly' in the MCP configuration, server 's'; known are command"],
    [{ s: { url: 'https://x.test', headers: { a: 1 } } }, 'headers.a must be a text, got number'],
    [{ s: { url: 'https://x.test', auth: { issuer: 3 } } }, 'auth.issuer must be a text, got number'],
    [
      { s: { url: 'https://x.test', auth: { grant: 'password' } } },
      'auth.grant must be authorization_code or client_credentials',
    ],
  ])('in code, %j is refused', (config, problem) => {
    expect(() => checkMcpConfig(config as never)).toThrow(ConfigError);
    expect(() => checkMcpConfig(config as never)).toThrow(problem);
  });

  it('auth is for https, and in place of an Authorization', () => {
    expect(() => read('servers: { a: { url: "http://x.test", auth: {} } }')).toThrow('auth needs an https url');
    expect(() => read('servers: { a: { url: "https://x.test", auth: {}, headers: { authorization: b } } }')).toThrow('another');
  });

  it('may be one server on the command line, with nothing interpreted by a shell', () => {
    expect(parseMcpSpec('files=npx  server $HOME;rm')).toEqual({ files: { command: 'npx', args: ['server', '$HOME;rm'] } });
    expect(parseMcpSpec('web=https://example.test/mcp')).toEqual({ web: { url: 'https://example.test/mcp' } });
    expect(parseMcpSpec('my-files=npx server')).toEqual({ 'my-files': { command: 'npx', args: ['server'] } });
    expect(parseMcpSpec('servers.json')).toBeNull();
    expect(() => parseMcpSpec('tool=x')).toThrow(expect.objectContaining({ code: 'ERR_CONFIG' }));
  });
});
