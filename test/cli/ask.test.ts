import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../architecture/source.ts';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const EXAMPLE = join(ROOT, 'examples/ask');
const MODELS = join(EXAMPLE, 'models.yaml');
const ANSWER = 'A closure is a function and the variables around it.';

describe('examples/ask', () => {
  it('P34: a program asks two levels deep; the trace says who was asked and what it took', async () => {
    const { code, stdout, stderr } = await within([...['run', join(EXAMPLE, 'question.ns'), '--models', MODELS, '--trace']]);
    expect([code, stdout]).toEqual([0, `${ANSWER}\n`]);
    expect(stderr).toMatch(
      /^#1 ask "editor", "What is a closure\?" with \{"max_turns":4,"fuel":200000\} → ".*" \(.*, 3 turns, fuel \d+, fork /,
    );
  });

  it('the result with its journal is of the published form', async () => {
    const args = ['run', join(EXAMPLE, 'question.ns'), '--models', MODELS, '--json', '--trace'];
    const result = JSON.parse((await within(args)).stdout);
    expect(result.journal[0]).toMatchObject({ kind: 'ask', model: 'editor', spent: { turns: 3, toolCalls: 3, tokens: 0 } });
    const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
    for (const name of ['value', 'error', 'result'])
      ajv.addSchema(JSON.parse(readFileSync(join(ROOT, `docs/schemas/${name}.schema.json`), 'utf8')));
    expect(ajv.validate('result.schema.json', result) ? [] : ajv.errors).toEqual([]);
  });

  it('in a session, nested ones are kept with the turn that asked, logged in one chain, and replayed', async () => {
    const dir = folder({});
    const store = ['--store', join(dir, 'ask.db')];
    const log = join(dir, 'decisions.log');
    const agent = ['--agent', `script:${join(EXAMPLE, 'agent.txt')}`, '--models', MODELS];
    const loop = await within(['loop', ...agent, '--sid', 'demo', ...store, '--log', log, '--json']);
    expect([loop.code, JSON.parse(loop.stdout).output]).toEqual([0, ANSWER]);
    const list = linesOf((await within(['sessions', 'list', ...store])).stdout);
    // As on the page, by its place; the id, which is random, is what commands take.
    const editor = list.find((line) => line.startsWith('ask 1.1 of demo '))?.split('  id ')[1] ?? '';
    expect(list.some((line) => line.startsWith('ask 1.1 › 1.1 of demo '))).toBe(true);
    expect((await within(['sessions', 'show', editor, ...store])).stdout).toMatch(/^ask 1\.1 of demo {2}/);
    expect((await within(['log', 'verify', log])).code).toBe(0);
    expect((await within(['replay', '--all', ...store])).stdout).toContain('3 sessions, 4 turns: 4 same');
  });

  it('turn can ask, too', async () => {
    const actions = command('ask "expert", "go" into x', 'emit x', 'emit tool.aeiou.magic("LOOP", {"action": "done"})');
    const envelope = `<<<NSENV:V3:START>>>\n<<<NSENV:V3:USERDATA>>>\n{"subject":"s","fields":{}}\n<<<NSENV:V3:ACTIONS>>>\n${actions}<<<NSENV:V3:END>>>\n`;
    const { code, stdout } = await within(['turn', '-', '--models', MODELS, '--json'], { stdin: envelope });
    expect([code, JSON.parse(stdout).output]).toEqual([0, expect.stringContaining('a closure is a function')]);
  });
});

describe('--models', () => {
  it('what is wrong in the file is said in one line, with its place', async () => {
    const program = command('ask "a", "go"');
    const refused = async (models: string, env: Readonly<Record<string, string>> = {}) => {
      const cwd = folder({ 'm.yaml': models, 'p.ns': program });
      const { code, stderr } = await within(['run', 'p.ns', '--models', 'm.yaml'], { cwd, env });
      return `${code} ${stderr.trim()}`;
    };
    expect(await refused('models: 5')).toMatch(/^2 .*m\.yaml:1: models: must be a map/);
    expect(await refused('agents: {}')).toMatch(/^2 .*m\.yaml:1: agents: unknown key; known are models, accounts$/);
    expect(await refused('models:\n  a: { provider: script }')).toMatch(/^2 .*m\.yaml:2: models\.a: .*model is missing$/);
    expect(await refused('models:\n  a: { provider: nowhere, model: x }')).toMatch(
      /^2 .*m\.yaml:2: models\.a\.provider: unknown provider 'nowhere'; known are openai, script, command$/,
    );
    expect(await refused('models:\n  a: { provider: script, model: missing.txt }')).toMatch(/^2 .*missing\.txt/);
    expect(await refused('accounts:\n  w: { kind: llm, provider: openai, api_key: sk-secret }')).toMatch(
      /^2 .*m\.yaml:2: accounts\.w\.api_key: must be \{ env: NAME \}(?!.*sk-secret)/,
    );
    const fromEnv = 'accounts:\n  w: { kind: llm, provider: openai, api_key: { env: ASK_TEST_KEY } }';
    expect(await refused(fromEnv)).toMatch(/^2 .*the environment variable ASK_TEST_KEY holds no key$/);
    // With the key there, what is left is that nobody is called 'a'.
    expect(await refused(fromEnv, { ASK_TEST_KEY: 'k' })).toMatch(/there is no agent model 'a'/);
  });

  it('a command answers, once a turn', async () => {
    const agent = join(ROOT, 'examples/command-agent/agent.mjs');
    const models = JSON.stringify({ models: { counter: { provider: 'command', model: `'${process.execPath}' '${agent}'` } } });
    const cwd = folder({ 'm.json': models, 'p.ns': command('ask "counter", "go" into x', 'emit x') });
    const { code, stdout } = await within(['run', 'p.ns', '--models', 'm.json'], { cwd });
    expect([code, stdout]).toEqual([0, 'count 3\n']);
  });

  it('belongs to programs that can ask', async () => {
    expect((await within(['run', '--jsonl', '--models', MODELS], { stdin: '' })).stderr).toContain(
      '--models cannot be combined with --jsonl',
    );
    const v1 = await within(['loop', '--profile', 'v1', '--agent', `script:${join(EXAMPLE, 'agent.txt')}`, '--models', MODELS]);
    expect([v1.code, v1.stderr]).toEqual([2, expect.stringContaining('--models cannot be combined with --profile v1')]);
  });
});
