import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { words } from '../../src/cli/flags/agent.ts';
import { defaultStore } from '../../src/cli/flags/store.ts';
import { UsageError } from '../../src/cli/terminal/failure.ts';
import { ROOT } from '../architecture/source.ts';
import { begin, event, modelServer, refuse, speak } from '../loop/agents/server.ts';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const envelope = (program: string): string =>
  `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{}\n<<<NSENV:V3:ACTIONS>>>\n${program.trimEnd()}\n<<<NSENV:V3:END>>>\n`;
const DONE = envelope(command('emit "said"', 'emit tool.aeiou.magic("LOOP", {"action": "done"})'));
const KEY = 'sk-cli-test-0815';

describe('loop --agent command:CMD', () => {
  it('plays the example: three turns of a command that counts', async () => {
    const agent = 'command:node examples/command-agent/agent.mjs';
    const ended = await within(['loop', '--agent', agent, '--store', 'none'], { cwd: ROOT });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const lines = linesOf(ended.stdout);
    expect(lines.at(-2)).toMatch(/^Session .+: DONE after 3 turns$/);
    expect(lines.at(-1)).toBe('  said        count 3');
  });

  it('a command that fails halts the session, and says why', async () => {
    const flags = ['--store', 'none', '--json'];
    const failing = `command:${process.execPath} -e 'console.error("out of tokens"); process.exit(1)'`;
    const ended = await within(['loop', '--agent', failing, ...flags]);
    expect(ended.code).toBe(11);
    const { reason, error } = JSON.parse(ended.stdout);
    expect(reason).toBe('ERR_AGENT');
    expect(error.message).toMatch(/ended with code 1: out of tokens$/);
  });

  it('is killed after replyTimeout', async () => {
    const slow = `command:${process.execPath} -e 'setInterval(() => {}, 1000)'`;
    const cwd = folder({ 'c.json': JSON.stringify({ agent: slow, replyTimeout: 300 }) });
    const ended = await within(['loop', '--config', 'c.json', '--store', 'none', '--json'], { cwd });
    expect(ended.code).toBe(124);
    expect(JSON.parse(ended.stdout)).toMatchObject({ decision: 'HALT', reason: 'ERR_TIMEOUT' });
  });
});

describe('a model whose server is away', () => {
  it('leaves a session that is kept open, which another agent ends', async () => {
    await using server = await modelServer((response) => refuse(response, 503, 'down'));
    const config = { agent: 'model:m', baseUrl: server.baseUrl, retries: 0 };
    const cwd = folder({ 'agent.txt': DONE, 'c.json': JSON.stringify(config) });
    const ended = await within(['loop', '--config', 'c.json', '--sid', 's', '--store', 's.db'], { cwd });
    expect(ended.code).toBe(11);
    expect(ended.stdout).toContain('Session s: CONTINUE after 0 turns');
    expect(linesOf(ended.stdout).at(-1)).toContain('neuroscript sessions resume s --store s.db');
    const listed = await within(['sessions', 'list', '--store', 's.db', '--where', 'error:503'], { cwd });
    expect(listed.stdout).toMatch(/^s {2}open {2}0 turns .*turn 1 has no reply: the model's server answered 503: down/);
    const resumed = await within(['sessions', 'resume', 's', '--agent', 'script:agent.txt', '--store', 's.db'], { cwd });
    expect(resumed).toMatchObject({ code: 0 });
  });
});

describe('loop --stream', () => {
  it('prints what a model writes on standard error, a broken attempt with the word that it does not count', async () => {
    await using server = await modelServer((response, _, index) => {
      if (index > 0) return speak(response, `Sure, \u001b[2J.\n${DONE}`);
      begin(response);
      return response.end(event({ content: 'half a rep' }));
    });
    const args = ['loop', '--agent', 'model:m', '--base-url', server.baseUrl, '--store', 'none', '--stream', '--json'];
    const ended = await within(args);
    expect(JSON.parse(ended.stdout)).toMatchObject({ decision: 'DONE' });
    expect(ended.stderr).toBe(`── turn 1\nhalf a rep\n── the connection failed; the reply begins anew\nSure, \\e[2J.\n${DONE}`);
  });

  it('prints the reply of an agent that does not stream in one piece, and resumed sessions alike', async () => {
    const cwd = folder({ 'agent.txt': DONE });
    const ended = await within(['loop', '--agent', 'script:agent.txt', '--store', 'none', '--stream'], { cwd });
    expect(ended.stderr).toBe(`── turn 1\n${DONE}`);
    const help = await within(['sessions', 'resume', '--help']);
    expect(help.stdout).toContain('--stream');
    const v1 = await within(['loop', '--agent', 'script:agent.txt', '--profile', 'v1', '--stream'], { cwd });
    expect(v1.stderr).toContain('--stream cannot be combined with --profile v1');
  });
});

describe('loop --agent model:NAME', () => {
  it('gives the server a grammar of a turn with the tools that the policy allows', async () => {
    await using server = await modelServer((response) => speak(response, DONE));
    const cwd = folder({
      'tools.yaml':
        'tools: { tool.shop.Buy: { args: [item], cases: [{ returns: 1 }] }, tool.shop.Price: { args: [item], cases: [{ returns: 1 }] } }\n',
      'policy.yaml': 'allow: [tool.shop.Price]\n',
      'c.json': JSON.stringify({ agent: 'model:m', baseUrl: server.baseUrl, grammar: 'llama.cpp' }),
      'wrong.yaml': 'agent: command:x\ngrammar: vllm\n',
      'alone.yaml': 'agent: model:m\nbaseUrl: http://h\nsmallGrammar: true\n',
    });
    const setup = ['--tools', 'tools.yaml', '--policy', 'policy.yaml'];
    const args = ['loop', '--config', 'c.json', '--store', 'none', ...setup];
    expect((await within(args, { cwd })).code).toBe(0);
    const sent = server.asked[0]?.body['grammar'];
    const written = await within(['grammar', '--whole-turn', ...setup], { cwd });
    expect(sent).toBe(written.stdout);
    expect(sent).toContain('[Pp] [Rr] [Ii] [Cc] [Ee]');
    expect(sent).not.toContain('[Bb] [Uu] [Yy]');
    const small = await within(['grammar', '--small', '--format', 'ebnf', ...setup], { cwd });
    expect(small.stdout).toMatch(/^# NeuroScript: a program that can call 1 tool\. EBNF/);
    expect(small.stdout).toContain('"shop.Price"');
    const wrong = await within(['loop', '--config', 'wrong.yaml'], { cwd });
    expect(wrong.stderr).toContain('only an agent model:NAME has grammar');
    const alone = await within(['loop', '--config', 'alone.yaml'], { cwd });
    expect(alone.stderr).toContain('smallGrammar needs grammar');
  });

  it('asks a model, counts its tokens, and keeps a transcript without the key', async () => {
    await using server = await modelServer((response) => speak(response, `Sure.\n${DONE}`));
    const cwd = folder({ 'c.yaml': 'transcript: t.jsonl\nmetrics: true\ncost: { usd: { in: 1, out: 2 } }\n' });
    const agent = ['--agent', 'model:qwen3:8b', '--base-url', server.baseUrl, '--api-key-env', 'MY_KEY'];
    const args = ['loop', ...agent, '--config', 'c.yaml', '--store', 'none', '--json'];
    const ended = await within(args, { cwd, env: { MY_KEY: KEY } });
    expect(ended.code, ended.stderr).toBe(0);
    expect(JSON.parse(ended.stdout)).toMatchObject({
      decision: 'DONE',
      turns: [{ output: expect.stringContaining('said\n'), agent: { name: 'qwen3:8b', asks: 1, tokens: 42, cost: 0.000054 } }],
    });
    expect(server.asked).toMatchObject([{ authorization: `Bearer ${KEY}`, body: { model: 'qwen3:8b' } }]);
    expect(linesOf(ended.stderr)).toEqual(
      expect.arrayContaining([
        'neuroscript_decisions_total{decision="DONE"} 1',
        'neuroscript_agent_tokens_total{type="input"} 30',
        'neuroscript_agent_tokens_total{type="output"} 12',
      ]),
    );
    const transcript = readFileSync(join(cwd, 't.jsonl'), 'utf8');
    const [asked] = linesOf(transcript).map((line) => JSON.parse(line));
    expect(asked).toMatchObject({ turn: 1, attempt: 1, agent: 'qwen3:8b', reply: `Sure.\n${DONE}`, tokens: 42, error: null });
    expect(asked.system).toContain('# NeuroScript, in brief');
    expect(asked.prompt).toMatch(/^<<<NSENV:V3:START>>>\n/);
    expect(statSync(join(cwd, 't.jsonl')).mode & 0o777).toBe(0o600);
    expect(transcript + ended.stdout + ended.stderr).not.toContain(KEY);
  });

  it('asks again for a reply without an envelope, and shows the tools that may be called', async () => {
    await using server = await modelServer((response, _, index) => speak(response, index === 0 ? 'Hello!' : DONE));
    const cwd = folder({
      't.yaml':
        'tools: { tool.queue.Take: { args: [], cases: [{ returns: 1 }] }, tool.queue.Drop: { args: [], cases: [{ returns: 1 }] } }\n',
      'p.yaml': 'allow: [tool.queue.take]\n',
    });
    const args = ['loop', '--agent', 'model:m', '--base-url', server.baseUrl, '--store', 'none', '--json'];
    const ended = await within([...args, '--tools', 't.yaml', '--policy', 'p.yaml'], { cwd });
    expect(ended.code, ended.stderr).toBe(0);
    const [first, second] = server.asked.map(({ body }) => JSON.stringify(body.messages));
    expect(first).toContain('tool.queue.Take()');
    expect(first).not.toContain('tool.queue.Drop');
    expect(second).toContain('reply_problem');
  });

  it('a server that refuses halts the session, and the key is in no message', async () => {
    await using server = await modelServer((response, { authorization }) => refuse(response, 401, `bad key ${authorization}`));
    const cwd = folder({
      key: `${KEY}\n`,
      'c.json': JSON.stringify({ agent: 'model:m', baseUrl: server.baseUrl, apiKeyFile: 'key' }),
    });
    const ended = await within(['loop', '--config', 'c.json', '--store', 'none'], { cwd });
    expect(ended.code).toBe(11);
    expect(ended.stdout.replace(/\s+/g, ' ')).toContain('answered 401: bad key Bearer [key]');
    expect(ended.stdout + ended.stderr).not.toContain(KEY);
  });
});

describe('what --agent refuses, in one sentence', () => {
  it.each([
    [['--agent', 'robot'], "unknown agent 'robot'; write script:FILE, command:CMD or model:NAME"],
    [['--agent', 'model:m'], 'an agent model:NAME needs --base-url (baseUrl), for instance http://127.0.0.1:11434/v1'],
    [['--agent', 'model:m', '--base-url', 'here'], "baseUrl of a model agent must be an http or https URL, got 'here'"],
    [
      ['--agent', 'model:m', '--base-url', 'http://h', '--api-key-env', 'NO_SUCH_VAR'],
      'the environment variable NO_SUCH_VAR holds no key',
    ],
    [['--agent', 'command:x', '--base-url', 'http://h'], 'only an agent model:NAME has --base-url'],
    [['--agent', 'script:x', '--api-key-env', 'K'], 'only an agent model:NAME has --api-key-env'],
    [[], "needs an agent (script:FILE, command:CMD or model:NAME): --agent, or 'agent' of a configuration"],
    [['--agent', "command:a 'b"], "has a quote ' that is not closed"],
    [['--agent', 'command: '], 'argv of a command agent must be texts'],
    [['--agent', 'script:none.txt', '--config', 'folder.yaml'], 'cannot read none.txt'],
    [['--agent', 'command:x', '--config', 'folder.yaml'], 'cannot append to'],
    [['--agent', 'command:x', '--max-tokens', '0'], "--max-tokens '0' must be a whole number of at least 1"],
    [['--agent', 'command:x', '--max-time', '5'], "--max-time '5' needs a unit"],
    [['--agent', 'command:x', '--profile', 'v1', '--store', 's.db'], '--store cannot be combined with --profile v1'],
    [['--agent', 'command:x', '--profile', 'v1', '--max-reasks', '1'], '--max-reasks cannot be combined with --profile v1'],
  ])('%j', async (args, message) => {
    const ended = await within(['loop', ...args], { cwd: folder({ 'folder.yaml': 'transcript: .\n' }) });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toContain(message);
  });
});

describe('where sessions are kept', () => {
  it('the folder of the user’s state, as XDG has it', () => {
    expect(defaultStore({ XDG_STATE_HOME: '/state' })).toBe(join('/state', 'neuroscript', 'sessions.db'));
    for (const env of [{}, { XDG_STATE_HOME: '' }, { XDG_STATE_HOME: 'relative' }])
      expect(defaultStore(env)).toMatch(/\/\.local\/state\/neuroscript\/sessions\.db$/);
  });

  it('there, without being asked, for its owner only; list, show and resume find them there', async () => {
    const cwd = folder({ 'a.txt': DONE });
    const env = { XDG_STATE_HOME: join(cwd, 'state') };
    const ended = await within(['loop', '--agent', 'script:a.txt', '--sid', 's', '--json'], { cwd, env });
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    const file = join(cwd, 'state', 'neuroscript', 'sessions.db');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(join(cwd, 'state', 'neuroscript')).mode & 0o777).toBe(0o700);
    const list = await within(['sessions', 'list', '--json'], { cwd, env });
    expect(JSON.parse(list.stdout)).toMatchObject({ sid: 's', status: 'done', turns: 1 });
    const again = await within(['loop', '--agent', 'script:a.txt', '--sid', 's'], { cwd, env });
    expect(again).toMatchObject({ code: 2, stderr: 'neuroscript: session "s" exists already\n' });
  });

  it('nowhere with --store none', async () => {
    const cwd = folder({ 'a.txt': DONE });
    const env = { XDG_STATE_HOME: join(cwd, 'state') };
    for (const _ of [1, 2])
      expect(
        await within(['loop', '--agent', 'script:a.txt', '--sid', 's', '--store', 'none', '--json'], { cwd, env }),
      ).toMatchObject({
        code: 0,
      });
    expect(existsSync(join(cwd, 'state'))).toBe(false);
    expect(await within(['sessions', 'list'], { cwd, env })).toMatchObject({ code: 0 });
    expect(existsSync(join(cwd, 'state'))).toBe(false);
  });

  it('a folder that cannot be made is told, with what to do', async () => {
    const cwd = folder({ 'a.txt': DONE, state: 'a file' });
    const ended = await within(['loop', '--agent', 'script:a.txt'], { cwd, env: { XDG_STATE_HOME: join(cwd, 'state') } });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(
      /a part of its path is not a folder; name a file with --store FILE, or keep nothing with --store none\n$/,
    );
  });
});

describe('the words of a command', () => {
  it.each([
    ['llm -m x', ['llm', '-m', 'x']],
    ['  a   b\tc ', ['a', 'b', 'c']],
    [`a 'b c' "d 'e'" f"g h"i`, ['a', 'b c', "d 'e'", 'fg hi']],
    [`a '' ""`, ['a', '', '']],
    ['a \\ $HOME *', ['a', '\\', '$HOME', '*']],
    ['', []],
  ])('%j', (text, expected) => {
    expect(words(text)).toEqual(expected);
  });

  it('a quote must be closed', () => {
    expect(() => words('a "b')).toThrow(UsageError);
  });
});
