import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const name of ['value', 'error', 'request', 'result', 'turn', 'loop', 'check'])
  ajv.addSchema(JSON.parse(readFileSync(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8')));

/** Asserts that a text is one JSON value of the schema, and returns it. */
function valid(schema: string, text: string) {
  const value = JSON.parse(text);
  const validate = ajv.getSchema(`${schema}.schema.json`);
  expect(validate?.(value), JSON.stringify(validate?.errors)).toBe(true);
  return value;
}

const tools =
  'tools: { tool.t.Get: { args: [x], cases: [{ when: { x: 1 }, returns: { a: [1] } }, { when: { x: 2 }, throws: { code: 9, message: no } }] } }\n';
const envelope = [
  '<<<NSENV:V3:START>>>',
  '<<<NSENV:V3:USERDATA>>>',
  '{"subject":"s","fields":{}}',
  '<<<NSENV:V3:ACTIONS>>>',
  command('emit tool.aeiou.magic("LOOP", {"action": "done"})').trimEnd(),
  '<<<NSENV:V3:END>>>\n',
].join('\n');

describe('what the command prints is what the schemas say', () => {
  it.each([
    ['a result', ['emit [1, 2]', 'whisper self, "w"']],
    ['a result with a journal', ['emit tool.t.Get(1)', 'emit tool.t.Get(2)']],
    ['a runtime error', ['emit 1 / 0']],
    ['syntax errors', ['emit )', 'let x = 1']],
    ['a denied tool', ['emit tool.t.Other()']],
    ['a quota', ['while true', 'set x = 1', 'endwhile']],
  ])('run --json: %s', async (_name, statements) => {
    const cwd = folder({ 't.yaml': tools });
    const args = ['run', '-', '--json', '--trace', '--tools', 't.yaml', '--fuel', '1e5'];
    const ended = await within(args, { cwd, stdin: command(...statements) });
    expect(linesOf(ended.stdout)).toHaveLength(1);
    expect(valid('result', ended.stdout).journal).toBeInstanceOf(Array);
  });

  it('run --jsonl', async () => {
    const requests = [
      valid('request', JSON.stringify({ id: 'a', src: command('emit 1') })),
      valid(
        'request',
        JSON.stringify({ id: 2, lib: 'func f() means\n  return 1\nendfunc\n', src: '', call: 'f', limits: { fuel: 1000 } }),
      ),
    ];
    const stdin = `${requests.map((request) => JSON.stringify(request)).join('\n')}\nnonsense\n`;
    const ended = await within(['run', '--jsonl'], { stdin });
    expect(linesOf(ended.stdout).map((line) => valid('result', line).ok)).toEqual([true, true, false]);
  });

  it('check --json', async () => {
    const cwd = folder({ 'a.ns': command('let x = 1', 'emit )', 'print("x")') });
    expect(valid('check', (await within(['check', 'a.ns', '--json'], { cwd })).stdout).length).toBeGreaterThan(1);
  });

  it('turn --json and loop --json', async () => {
    const cwd = folder({ 'e.txt': envelope, 'bad.txt': envelope.replace('done', 'fly') });
    for (const file of ['e.txt', 'bad.txt']) valid('turn', (await within(['turn', file, '--json'], { cwd })).stdout);
    for (const file of ['e.txt', 'bad.txt'])
      valid('loop', (await within(['loop', '--agent', `script:${file}`, '--json'], { cwd })).stdout);
  });
});
