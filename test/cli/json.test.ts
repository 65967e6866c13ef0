import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { describe as describeCommands } from '../../src/cli/manual/describe.ts';
import { command, folder } from './spawn.ts';
import { within } from './terminal.ts';

const SCHEMAS = new URL('../../docs/schemas/', import.meta.url);
const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const name of readdirSync(SCHEMAS)) ajv.addSchema(JSON.parse(readFileSync(new URL(name, SCHEMAS), 'utf8')));

const ENVELOPE = [
  '<<<NSENV:V3:START>>>',
  '<<<NSENV:V3:USERDATA>>>',
  '{"subject":"s","fields":{}}',
  '<<<NSENV:V3:ACTIONS>>>',
  command('emit "a\\u2028b"', 'emit tool.aeiou.magic("LOOP", {"action": "done"})').trimEnd(),
  '<<<NSENV:V3:END>>>\n',
].join('\n');
const FILES = {
  'a.ns': command('emit "a\\u2028b"'),
  'calls.ns': command('for each x in [1, 2]', 'call tool.fs.Read(x, {"k": [nobody, -0]})', 'ask "m", "p"', 'endfor'),
  'bad.ns': command('emit )'),
  'fails.ns': command('emit 1 / 0'),
  'e.txt': ENVELOPE,
  'a.test.ns': '#: one\nemit 1 #=> 1\n',
  'fails.test.ns': '#: one\nemit 1 #=> 2\n',
  'broken.log': '{}\n',
  'not.json': 'text',
  'policy.yaml': 'allow: ["*"]\n',
  'world.yaml':
    'about: a\npolicy: {}\ntools: { tool.a.B: { cases: [{ returns: 1 }] } }\nharm: [tool.a.B]\nbenign: {}\nhijacked: { a: call tool.a.B() }\n',
};

/** What makes the store, the log and the keys that the other commands read. */
const BEFORE = [
  ['loop', '--agent', 'script:e.txt', '--sid', 's', '--store', 's.db', '--log', 'd.log'],
  ['keys', 'generate', 'k.json'],
  ['keys', 'generate', 'r.key', '--receipts'],
  ['sessions', 'receipt', 's', '--store', 's.db', '--key', 'r.key', '--out', 's.receipt'],
];

type Row = readonly [args: string, code: number, schema: string];

/** For each command, lines that do its work with any verdict, and lines that cannot do it. */
const WORKS: readonly Row[] = [
  ['run a.ns', 0, 'result'],
  ['run fails.ns', 1, 'result'],
  ['run bad.ns', 3, 'result'],
  ['test a.test.ns', 0, 'commands#/$defs/test'],
  ['test fails.test.ns', 1, 'commands#/$defs/test'],
  ['test --hostile world.yaml', 0, 'commands#/$defs/testHostile'],
  ['check a.ns', 0, 'check'],
  ['check bad.ns', 3, 'check'],
  ['foresee calls.ns', 0, 'foresee'],
  ['foresee bad.ns', 3, 'foresee'],
  ['turn e.txt', 0, 'turn'],
  ['loop --agent script:e.txt --store none', 0, 'loop'],
  ['sessions list --store s.db', 0, 'commands#/$defs/sessionsList'],
  ['sessions open --store s.db', 0, 'commands#/$defs/sessionsOpen'],
  ['sessions show s --store s.db', 0, 'commands#/$defs/sessionsShow'],
  ['sessions prune --older-than 0s --dry-run --store s.db', 0, 'commands#/$defs/sessionsPrune'],
  ['replay s --store s.db', 0, 'replay'],
  ['policy test policy.yaml --against s.db', 0, 'commands#/$defs/policyTest'],
  ['policy explain policy.yaml tool.str.Length', 0, 'commands#/$defs/policyExplain'],
  ['policy explain policy.yaml tool.str.Length 5', 1, 'commands#/$defs/policyExplain'],
  ['policy suggest --from s.db', 0, 'commands#/$defs/policySuggest'],
  ['store migrate --store s.db', 0, 'commands#/$defs/storeMigrate'],
  ['store status --store s.db', 0, 'commands#/$defs/storeStatus'],
  ['log verify d.log', 0, 'commands#/$defs/logVerify'],
  ['log verify broken.log', 1, 'commands#/$defs/logVerify'],
  ['receipt verify s.receipt --key r.key', 0, 'commands#/$defs/receiptVerify'],
  ['receipt verify d.log --key r.key', 1, 'commands#/$defs/receiptVerify'],
  ['tools tool.str.Length', 0, 'catalogue'],
  ['keys list k.json', 0, 'commands#/$defs/keysList'],
  ['keys rotate k.json', 0, 'commands#/$defs/keysRotate'],
  ['token inspect nothing', 1, 'token'],
  ['token verify nothing --keys k.json --sid s --turn 1 --nonce AAAAAAAAAAAAAAAAAAAAAA', 1, 'token'],
  ['inspect a.ns', 0, 'inspect'],
  ['explain NS7', 0, 'commands#/$defs/explain'],
  ['explain', 0, 'commands#/$defs/explainList'],
  ['doctor --launcher none', 1, 'doctor'],
  ['sessions erase s --store s.db', 0, 'commands#/$defs/sessionsErase'],
];
const CANNOT = [
  'run none.ns',
  'test none.test.ns',
  'check none.ns',
  'foresee none.ns',
  'turn none.txt',
  'loop --agent script:none.txt',
  'sessions list --store none.db',
  'sessions show none --store s.db',
  'sessions open --sid s --store s.db',
  'sessions resume none --store s.db --agent script:e.txt',
  'sessions complete none --call 1.1 --result 1 --store s.db',
  'sessions prune --older-than 0s --store none.db',
  'sessions erase none --store s.db',
  'replay none --store s.db',
  'policy test none.yaml --against s.db',
  'policy explain policy.yaml tool.str.Length text',
  'policy suggest --from none.db',
  'store migrate --store none/none.db',
  'store status --store none.db',
  'receipt verify none --key r.key',
  'log verify none.log',
  'tools tool.none.None',
  'keys list none.json',
  'keys rotate not.json',
  'token verify nothing --keys not.json --sid s --turn 1 --nonce AAAAAAAAAAAAAAAAAAAAAA',
  'token inspect --unknown',
  'test conformance --impl false',
  'inspect none',
  'explain NOTHING',
  'doctor --launcher nothing',
  'bench nothing',
];

it('issue 19, 20: every command with --json prints one value on one line, of its schema, or nothing at all', async () => {
  const cwd = folder(FILES);
  for (const argv of BEFORE) expect(await within(argv, { cwd })).toMatchObject({ code: 0 });
  const seen = new Set<string>();
  const { pages } = await describeCommands();
  const commandOf = (line: string) =>
    pages
      .map(({ path }) => path)
      .filter((path) => path !== '' && `${line} `.startsWith(`${path} `))
      .sort((a, b) => b.length - a.length)[0] ?? '';
  for (const [line, code, schema] of WORKS) {
    seen.add(commandOf(line));
    const ended = await within([...line.split(' '), '--json'], { cwd });
    expect({ line, code: ended.code, stderr: ended.stderr }).toEqual({ line, code, stderr: expect.anything() });
    expect({ line, lines: ended.stdout.split(/[\n\r\u2028\u2029]/).length }).toEqual({ line, lines: 2 });
    const [name = '', path = ''] = schema.split('#');
    const validate = ajv.getSchema(`${name}.schema.json${path === '' ? '' : `#${path}`}`);
    const value: unknown = JSON.parse(ended.stdout);
    expect({ line, valid: validate?.(value), errors: validate?.errors ?? [] }).toEqual({ line, valid: true, errors: [] });
  }
  for (const line of CANNOT) {
    seen.add(commandOf(line));
    const { code, stdout, stderr } = await within([...line.split(' '), '--json'], { cwd });
    expect({ line, code, stdout }).toEqual({ line, code: 2, stdout: '' });
    expect(stderr).toMatch(/^neuroscript: [^\n]+\n$/);
  }
  const withJson = pages.filter(({ flags }) => flags.some(({ names }) => names.includes('--json'))).map(({ path }) => path);
  expect(withJson.filter((path) => !seen.has(path))).toEqual([]);
}, 240_000);
