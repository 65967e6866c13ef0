import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { canonicalize } from '../../src/aeiou/index.ts';
import { SqliteStore } from '../../src/loop/index.ts';
import { chained, GENESIS } from '../../src/loop/log/chain.ts';
import { newSession } from '../../src/loop/sessions/store.ts';
import {
  CHECKPOINT_FORMAT,
  formatCheckpoint,
  formatReceiptKey,
  generateReceiptKey,
  issueCheckpoint,
  publicReceiptKey,
  RECEIPT_FORMAT,
} from '../../src/receipt/index.ts';
import { SqliteStorage } from '../../stdlib-tools/index.ts';
import { FALLBACK_SEED, NONCE, PRIMARY, PRIMARY_SEED, SHARED, SID, TOKENS } from '../aeiou/kit.ts';
import { SLOW } from '../groups.ts';
import { command, folder, linesOf } from './spawn.ts';
import { within } from './terminal.ts';

const ajv = new Ajv2020({ strict: true, strictRequired: false, strictTypes: false, allErrors: true });
for (const name of ['value', 'error', 'turn', 'token', 'check', 'grant', 'policy', 'catalogue', 'commands', 'inspect'])
  ajv.addSchema(JSON.parse(readFileSync(new URL(`../../docs/schemas/${name}.schema.json`, import.meta.url), 'utf8')));

type Inspected = Readonly<Record<string, never>> & { readonly kind: string; readonly title: string; readonly error: unknown };

interface Where {
  readonly cwd?: string;
  readonly stdin?: string | Uint8Array;
}

/** The command within this process: what it prints, and its exit code. The last describe starts it as users do. */
async function print(args: readonly string[], where: Where): Promise<{ code: number | null; text: string }> {
  const { code, stdout, stderr } = await within(['inspect', ...args], where);
  return { code, text: stdout + stderr };
}

/** What `inspect --json` prints of a file, held against the schema, and the exit code. */
async function inspect(file: string, where: Where = {}) {
  const { code, text } = await print([file, '--json'], where);
  const json: Inspected = JSON.parse(text);
  const validate = ajv.getSchema('inspect.schema.json');
  expect(validate?.(json), JSON.stringify(validate?.errors)).toBe(true);
  return { code, json };
}

/** What it says to a reader. */
const say = (file: string, where: Where) => print([file], where);

const inspectText = (text: string | Uint8Array) => inspect('-', { stdin: text });

const envelope = (
  actions: string,
  userdata = '{"subject":"s","brief":"b","fields":{"k":1},"x":0}',
  output: string | null = null,
) =>
  [
    '<<<NSENV:V3:START>>>',
    '<<<NSENV:V3:USERDATA>>>',
    userdata,
    ...(output === null ? [] : ['<<<NSENV:V3:OUTPUT>>>', output]),
    '<<<NSENV:V3:ACTIONS>>>',
    actions.trimEnd(),
    '<<<NSENV:V3:END>>>\n',
  ].join('\n');
const DONE = command('emit tool.aeiou.magic("LOOP", {"action": "done"})');

const b64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');
const SECRET = b64(new Uint8Array(32).fill(0x0b));
const KEYS = JSON.stringify({
  version: 1,
  keys: [
    { kid: PRIMARY, role: 'primary', alg: 'Ed25519', seed: b64(PRIMARY_SEED) },
    {
      kid: 'old',
      role: 'retired',
      alg: 'Ed25519',
      public: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo',
      verifyUntil: 1_700_000_000,
    },
    { kid: SHARED, role: 'retired', alg: 'HS256', secret: SECRET },
  ],
});

const POLICY =
  'allow: [tool.shop.*, "*.get"]\ndeny: ["*.delete"]\ngrants: ["net:read:*.test"]\ntoolMaxCalls: { tool.shop.Buy: 3 }\n';
const TOOLS =
  'state: { stock: 1 }\ntools:\n  tool.shop.Buy: { args: [item, { name: count, type: int, default: 1 }], effects: write, cases: [{ when: { item: x }, returns: 1 }] }\n';
const PROGRAM = [
  ':: title: sums',
  'func add(needs a, b returns c) means',
  '  return a + b',
  'endfunc',
  'on event "tick" as e do',
  '  emit tool.str.Upper("x")',
  '  emit tool.crm.Get(1)',
  'endon',
  '',
].join('\n');

function log(...entries: readonly object[]): string {
  let prev = GENESIS;
  return entries
    .map((entry) => {
      const link = chained(entry, prev);
      prev = link.hash;
      return `${link.text}\n`;
    })
    .join('');
}
const entry = (turn: number, decision: string, more: object = {}) => ({
  ts: `2026-01-0${turn}T00:00:00.000Z`,
  SID,
  turn_index: turn,
  decision,
  latency_ms: 1,
  output_bytes: 2,
  scratch_bytes: 3,
  ...more,
});
const LOG = log(entry(1, 'CONTINUE'), entry(2, 'HALT', { reason: 'ERR_TIMEOUT' }));

const [ID, OTHER_ID] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-00000000000A'];
const HASH = 'a'.repeat(64);
const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
const jsonl = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join('');
const APPROVED = jsonl({ id: ID, timestamp: at(1), hash: HASH }, { id: OTHER_ID, timestamp: at(2), hash: HASH });
const ATTEMPTS = jsonl(
  { id: ID, timestamp: at(1), hash: HASH, state: 'started' },
  { id: ID, timestamp: at(2), hash: HASH, state: 'executed' },
  { id: OTHER_ID, timestamp: at(3), hash: HASH, state: 'started' },
);
const GRANT = 'version: 1\nprograms: []\ncalls: [{ number: 1, tool: tool.x.y, when: { to: "a*" }, times: 2 }]\norder: []\n';
const PENDING = jsonl({ id: ID, timestamp: at(1), plan: { do: 'it' } });

describe('what inspect says of each kind, by its content', () => {
  it.each([
    ['envelope', envelope(DONE, undefined, `text\n${TOKENS.T1}`), 'envelope', 0],
    ['token', `said\n${TOKENS.T2}\n"${TOKENS.T1}"\n`, 'token', 0],
    ['program', PROGRAM, 'program', 0],
    ['log', LOG, 'log', 0],
    ['keys', KEYS, 'keys', 0],
    ['grant', GRANT, 'grant', 0],
    ['policy', POLICY, 'policy', 0],
    ['tools', TOOLS, 'tools', 0],
    ['approved', APPROVED, 'gate', 0],
    ['attempts', ATTEMPTS, 'gate', 0],
    ['pending', PENDING, 'gate', 0],
    ['unknown', 'a letter\n', 'unknown', 1],
  ])('%s: the golden file, and the schema', async (name, text, kind, exit) => {
    const { code, json } = await inspectText(text);
    expect([json.kind, code]).toEqual([kind, exit]);
    // What things cost follows the table of costs, which has tests of its own.
    const steady = JSON.stringify(json, (key, value) => (key === 'cost' ? [] : value), 2);
    await expect(`${steady}\n`).toMatchFileSnapshot(`golden/inspect.${name}.json.golden`);
  });

  it('the name of a file says nothing', async () => {
    const cwd = folder({ 'program.ns': POLICY, 'policy.yaml': PROGRAM });
    expect((await inspect('program.ns', { cwd })).json.kind).toBe('policy');
    expect((await inspect('policy.yaml', { cwd })).json.kind).toBe('program');
  });
});

describe('envelopes', () => {
  it('finds one in a reply with text around it, and says where its lines are', async () => {
    const { code, json } = await inspectText(`Sure!\n\n${envelope(DONE, '{}')}Bye.\n`);
    expect(code).toBe(0);
    expect(json).toMatchObject({
      kind: 'envelope',
      form: 'reply',
      error: null,
      report: [
        {
          sections: [{ name: 'USERDATA' }, { name: 'ACTIONS' }],
          userdata: { ok: false, code: 'ERR_USERDATA_SCHEMA', detail: 'subject' },
          actions: { findings: [], cost: [{ kind: 'command' }] },
        },
      ],
    });
  });

  it('finds each of a transcript, with the first that is wrong', async () => {
    const text = `one\n${envelope(DONE)}two\n${envelope(command('emit )'))}`;
    const { code, json } = await inspectText(text);
    expect(code).toBe(3);
    const line = text.split('\n').indexOf('  emit )') + 1;
    expect(json).toMatchObject({ form: 'transcript', error: { code: 'NS15', line } });
    expect(json['report']).toMatchObject([{ error: null }, { line: 10, error: { code: 'NS15', line } }]);
  });

  it.each([
    ['a missing section', envelope(DONE).replace('<<<NSENV:V3:ACTIONS>>>\n', ''), 'ERR_ENV_SECTION_MISSING'],
    ['another version', envelope(DONE).replace('V3:ACTIONS', 'V4:ACTIONS'), 'ERR_ENV_MARKERS_INVALID'],
    ['line ends of another system', envelope(DONE).replaceAll('\n', '\r\n'), 'ERR_ENV_MARKERS_INVALID'],
    ['a section that is too large', envelope(DONE, undefined, `${'x\n'.repeat(262_145)}`), 'ERR_ENV_SIZE'],
    ['two command blocks', envelope(`${DONE}${DONE}`), 'ERR_ACTIONS_INVALID'],
  ])('%s is exit 1, with the code', async (_, text, code) => {
    const ended = await inspectText(text);
    expect(ended.json).toMatchObject({ kind: 'envelope', error: { code } });
    expect(ended.code).toBe(1);
  });

  it('issue 50: names the version of an envelope that this runtime does not read', async () => {
    const later = envelope(DONE).replaceAll(':V3:', ':V4:');
    const { code, text } = await say('-', { stdin: later });
    expect(code).toBe(1);
    expect(text).toMatch(
      /^-: an AEIOU v4 envelope \(\d+ B\)\n {2}not whole in line 1: .*version 4 is not supported; this runtime reads v3/,
    );
    expect(text).toContain('line 1: marker of version 4: <<<NSENV:V4:START>>>');
    expect(text).not.toMatch(/unknown|neuroscript turn/);
    const reply = await say('-', { stdin: `Sure!\n${later}` });
    expect(reply.text).toMatch(/^-: a reply with an AEIOU v4 envelope in it /);
    const odd = await say('-', { stdin: envelope(DONE).replace('V3:ACTIONS', 'V3:ACTION') });
    expect(odd.text).toContain('no marker of v3: <<<NSENV:V3:ACTION>>>');
  });

  it('bytes that are no UTF-8 make a damaged envelope, not an unknown file', async () => {
    const { code, json } = await inspectText(Buffer.concat([Buffer.from(envelope(DONE)), Buffer.from([0xff])]));
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind: 'envelope', error: { code: 'ERR_ENV_MARKERS_INVALID' } });
  });

  it('tells sizes against limits, and the fields of USERDATA', async () => {
    const { text: stdout } = await say('-', { stdin: envelope(DONE, undefined, `x\n${TOKENS.T1}`) });
    expect(stdout).toMatch(/^-: an AEIOU v3 envelope \(\d+ B\)\n {2}\d+ B of 1MB, from START to END\n/);
    for (const part of [
      'USERDATA   50 B of 512KB, 1 line',
      'subject "s"',
      'brief "b"',
      'fields k',
      'token in line 2: claims to be LOOP done',
      NONCE,
    ])
      expect(stdout).toContain(part);
  });
});

describe('tokens', () => {
  it('says that nothing is verified, and which command does', async () => {
    const { code, text: stdout } = await say('-', { stdin: `${TOKENS.T1}\n` });
    expect(code).toBe(0);
    for (const part of ['claims to be LOOP done', PRIMARY, SID, NONCE, 'Nothing is verified', 'neuroscript token verify'])
      expect(stdout).toContain(part);
  });

  it('a line that only looks like one is exit 1', async () => {
    const { code, json } = await inspectText(`"${TOKENS.T1}"\n`);
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind: 'token', form: 'lookalikes', report: [], error: { code: 'ERR_TOKEN_PARSE', line: 1 } });
  });
});

describe('programs', () => {
  it('syntax errors are exit 3, in the words of check', async () => {
    const cwd = folder({ 'p.ns': 'func f(needs a) means\n  retrun a\nendfunc\n' });
    const checked = await within(['check', 'p.ns'], { cwd });
    const { code, text: stdout } = await say('p.ns', { cwd });
    expect(code).toBe(3);
    for (const line of linesOf(checked.stderr)) expect(stdout).toContain(line);
    expect((await inspect('p.ns', { cwd })).json).toMatchObject({
      kind: 'program',
      sure: 'likely',
      error: { code: 'NS15', line: 2 },
    });
  });

  it('has the report of check: what each block costs, and tools that are not standard', async () => {
    const cwd = folder({ 'p.ns': PROGRAM });
    const { code, text: stdout } = await say('p.ns', { cwd });
    expect(code).toBe(0);
    for (const line of linesOf((await within(['check', 'p.ns'], { cwd })).stdout)) expect(stdout).toContain(line);
    expect(stdout).toContain('tool.crm.get is not a standard tool');
    const checked = await within(['check', 'p.ns', '--json', '--cost'], { cwd });
    expect((await inspect('p.ns', { cwd })).json['report']).toEqual(JSON.parse(checked.stdout));
  });
});

describe('sessions, turns, stores and logs of a real session', () => {
  it('knows all of them, verifies what takes no key, and leaves the store as it was', async () => {
    const cwd = folder({ 'a.txt': envelope(DONE, '{}'), 't.yaml': TOOLS });
    const made = ['loop', '--agent', 'script:a.txt', '--sid', 'job', '--store', 's.db', '--log', 'd.log', '--json'];
    writeFileSync(join(cwd, 'loop.json'), (await within(made, { cwd })).stdout);
    const exported = (await within(['sessions', 'export', '--store', 's.db'], { cwd })).stdout;
    const file = JSON.parse(exported);
    const record = file.sessions[0].turns[0];
    const changed = structuredClone(file);
    changed.sessions[0].turns[0].output += 'more\n';
    const cut = structuredClone(file);
    cut.sessions[0].turns = [];
    for (const [name, value] of Object.entries({ 'e.json': file, 'r.json': record, 'c.json': changed, 'cut.json': cut }))
      writeFileSync(join(cwd, name), JSON.stringify(value));

    const [turn] = JSON.parse(readFileSync(join(cwd, 'loop.json'), 'utf8')).turns;
    writeFileSync(join(cwd, 't.json'), JSON.stringify(turn));
    expect(await inspect('e.json', { cwd })).toMatchObject({
      code: 0,
      json: { kind: 'sessions', error: null, report: [{ sid: 'job', status: 'done', broken: [], turns: [turn] }] },
    });
    expect(await inspect('r.json', { cwd })).toMatchObject({ code: 0, json: { kind: 'turn', form: 'record', report: turn } });
    expect(await inspect('t.json', { cwd })).toMatchObject({ code: 0, json: { kind: 'turn', form: 'result', report: turn } });
    expect((await say('r.json', { cwd })).text).toContain('Turn 1 of session job');
    expect(await inspect('loop.json', { cwd })).toMatchObject({
      code: 0,
      json: { kind: 'session', report: { sid: 'job', decision: 'DONE', turns: [turn] } },
    });
    expect(await inspect('c.json', { cwd })).toMatchObject({
      code: 1,
      json: {
        error: { code: 'ERR_STORE', message: expect.stringContaining('output was changed') },
        report: [{ broken: ['the record of turn 1 was changed: output was changed'] }],
      },
    });
    expect(await inspect('cut.json', { cwd })).toMatchObject({
      code: 1,
      json: { report: [{ broken: ['its records are not a chain: its turns are missing'] }] },
    });
    const verified = await within(['log', 'verify', 'd.log', '--json'], { cwd });
    expect(await inspect('d.log', { cwd })).toMatchObject({
      code: 0,
      json: { kind: 'log', report: JSON.parse(verified.stdout) },
    });

    const [before, names] = [readFileSync(join(cwd, 's.db')), readdirSync(cwd)];
    chmodSync(join(cwd, 's.db'), 0o400);
    expect(await inspect('s.db', { cwd })).toMatchObject({
      code: 0,
      json: {
        kind: 'store',
        report: {
          unfolded: false,
          contents: { sessions: 1, statuses: { done: 1 }, turns: 1, decisions: { DONE: 1 }, latest: [{ sid: 'job', turns: 1 }] },
        },
      },
    });
    expect(readFileSync(join(cwd, 's.db')).equals(before)).toBe(true);
    expect(readdirSync(cwd)).toEqual(names);
  });

  it.each([
    [
      'a changed line',
      LOG.replace('"turn_index":1', '"turn_index":7'),
      { line: 1, message: expect.stringContaining('does not fit') },
    ],
    [
      'a line that is gone',
      linesOf(log(entry(1, 'CONTINUE'), entry(2, 'CONTINUE'), entry(3, 'DONE')))
        .filter((_, n) => n !== 1)
        .join('\n'),
      { line: 2 },
    ],
    ['a line cut off', LOG.slice(0, -9), { line: 2 }],
  ])('a log with %s is exit 1', async (_, text, error) => {
    const { code, json } = await inspectText(text);
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind: 'log', error: { code: 'ERR_LOG', ...error }, report: { ok: false } });
  });

  it('a log that goes on from another file is whole; one without hashes is not', async () => {
    const later = { stdin: `${linesOf(LOG)[1]}\n` };
    expect((await inspect('-', later)).json).toMatchObject({ error: null, report: { ok: true, lines: 1 } });
    expect((await say('-', later)).text).toContain('it goes on from an earlier file');
    expect((await inspectText(jsonl(entry(1, 'DONE')))).json).toMatchObject({
      kind: 'log',
      error: { line: 1 },
      report: { ok: false },
    });
  });
});

describe('SQLite files', () => {
  it('whose last changes lie beside them are read with these, and left alone', async () => {
    const [live, sent] = [folder({}), folder({})];
    using store = await SqliteStore.open(join(live, 's.db'));
    await store.create(newSession('job', '{}'), 1000);
    for (const name of ['s.db', 's.db-wal']) copyFileSync(join(live, name), join(sent, name));
    const bytes = () => ['s.db', 's.db-wal'].map((name) => readFileSync(join(sent, name)).toString('base64'));
    const before = bytes();
    expect((await inspect('s.db', { cwd: sent })).json).toMatchObject({
      error: null,
      report: { unfolded: true, contents: { sessions: 1 } },
    });
    expect(bytes()).toEqual(before);
  });

  it('of a newer version, damaged, of tool values, of other programs', async () => {
    const cwd = folder({});
    {
      using storage = await SqliteStorage.open(join(cwd, 'v.db'));
      await storage.cas({ scope: 'job', key: 'k', expected: 0, value: 1, ttlMs: null, at: 0 });
    }
    expect((await inspect('v.db', { cwd })).json).toMatchObject({
      kind: 'storage',
      error: null,
      report: { contents: { entries: 1, scopes: 1, largest: [{ scope: 'job', entries: 1 }] } },
    });

    new DatabaseSync(join(cwd, 'other.db')).exec('CREATE TABLE t (a)');
    expect(await inspect('other.db', { cwd })).toMatchObject({
      code: 1,
      json: { kind: 'unknown', guess: expect.stringContaining('another program') },
    });

    new DatabaseSync(join(cwd, 'new.db')).exec(
      `CREATE VIEW sessions AS SELECT 1; PRAGMA application_id = ${0x4e_53_73_74}; PRAGMA user_version = 99`,
    );
    expect(await inspect('new.db', { cwd })).toMatchObject({
      code: 1,
      json: {
        kind: 'store',
        error: { code: 'ERR_STORE', message: expect.stringContaining("no table 'sessions'") },
        report: { form: 99, contents: null },
      },
    });

    writeFileSync(join(cwd, 'torn.db'), readFileSync(join(cwd, 'v.db')).fill(0x5a, 4096));
    expect(await inspect('torn.db', { cwd })).toMatchObject({
      code: 1,
      json: { error: { code: 'ERR_STORE', message: expect.stringContaining('damaged') } },
    });

    const piped = await within(['inspect', '-'], { stdin: readFileSync(join(cwd, 'v.db')) });
    expect(piped).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(piped.stderr)).toHaveLength(1);
  });
});

describe('receipts, checkpoints and their keys', () => {
  const KEY = generateReceiptKey('notary');
  const log = { ok: true, lines: 3, head: 'a'.repeat(64) } as const;
  const receipt = {
    manifest: {
      ...{ format: RECEIPT_FORMAT, version: 1, kid: 'notary', issuedAt: 0, engine: '1' },
      ...{ sid: 'job-7', status: 'done', reason: null, parts: {} },
      turns: [{ turn: 1, decision: 'DONE', reason: null, fuel: 5 }],
    },
    ...{ signature: 'x', parts: {} },
  };
  it.each([
    [
      'receipt',
      `${canonicalize(receipt)}\n`,
      { form: 'receipt', report: { sid: 'job-7', turns: 1, kid: 'notary' }, error: null },
      0,
    ],
    ['damaged receipt', JSON.stringify({ manifest: { format: RECEIPT_FORMAT } }), { form: 'receipt', report: null }, 1],
    [
      'checkpoint',
      formatCheckpoint(issueCheckpoint(log, GENESIS, KEY, 0)),
      { form: 'checkpoint', report: { lines: 3 }, error: null },
      0,
    ],
    ['damaged checkpoint', JSON.stringify({ statement: { format: CHECKPOINT_FORMAT } }), { form: 'checkpoint', report: null }, 1],
    ['private key', formatReceiptKey(KEY), { form: 'key', report: { private: true, kid: 'notary' } }, 0],
    ['public key', formatReceiptKey(publicReceiptKey(KEY)), { form: 'key', report: { private: false } }, 0],
  ])('knows a %s, and shows no private half', async (_, text, facts, code) => {
    expect(await inspectText(text)).toMatchObject({ code, json: { kind: 'evidence', ...facts } });
    const said = await say('-', { stdin: text });
    expect(said.text).not.toContain(b64(KEY.seed ?? new Uint8Array(1)));
  });
});

describe('key files', () => {
  const never = [b64(PRIMARY_SEED), b64(FALLBACK_SEED), SECRET];

  it.each([
    ['whole', KEYS],
    ['cut off', KEYS.slice(0, 150)],
    ['with a wrong field', KEYS.replace('"version":1', '"version":1,"note":"x"')],
    ['with text before it', `func f() means\n${KEYS}`],
    ['with a line that looks like a program', KEYS.replaceAll(',', ',\n').replace('{', '{\ncommand\n')],
    ['two of them', `${KEYS}\n${KEYS}`],
    ['a private half in a program', command(`emit {"seed":"${b64(PRIMARY_SEED)}"`)],
    ['a private half in ACTIONS', envelope(command(`emit {"seed":"${b64(PRIMARY_SEED)}"`))],
  ])('%s: no private half is ever printed', async (_, text) => {
    for (const flags of [[], ['--json']]) {
      const said = await print(['-', ...flags], { stdin: text });
      for (const secret of never) expect(said.text).not.toContain(secret.slice(0, 16));
    }
  });

  it.each([
    ['cut off', KEYS.slice(0, 150)],
    ['with text before it', `func f() means\n${KEYS}`],
    ['with a role twice', KEYS.replace('retired', 'primary')],
  ])('%s it is still known as one, and damaged', async (_, text) => {
    const { code, json } = await inspectText(text);
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind: 'keys', error: { code: 'ERR_KEY' } });
  });

  it('says who signs, what has expired, and that others can read the file', async () => {
    const cwd = folder({ 'k.json': KEYS });
    chmodSync(join(cwd, 'k.json'), 0o644);
    const { text: stdout } = await say('k.json', { cwd });
    expect(stdout).toContain('OTHERS CAN READ IT');
    expect(stdout).toContain(`${PRIMARY} signs what programs ask for`);
    expect(stdout).toMatch(/^ {2}1 key more, expired$/m);
    chmodSync(join(cwd, 'k.json'), 0o600);
    expect((await say('k.json', { cwd })).text).not.toContain('OTHERS');
    expect((await inspect('k.json', { cwd })).json).toMatchObject({
      form: 'private',
      report: [{ kid: PRIMARY }, { kid: SHARED }],
    });
  });
});

describe('configuration that is wrong', () => {
  it.each([
    ['policy', 'allow: [tool.x.*]\ndenny: []\n', 2],
    ['tools', 'tools:\n  tool.a.B: { args: [x] }\n', 2],
    ['grant', 'version: 1\nprograms: []\ncalls: [{ number: 1 }]\n', 3],
  ])('a %s file is known by its keys, and its error has a line', async (kind, text, line) => {
    const { code, json } = await inspectText(text);
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind, sure: 'likely', error: { code: 'ERR_CONFIG', line } });
  });
});

describe('hostile input', () => {
  it.each([
    ['a folder', 'd', /it is a folder/],
    ['a named pipe that nobody writes to', 'fifo', /not an ordinary file/],
    ['a file of 1 GB', 'huge', /larger than 64MB/],
    ['no file', 'none', /there is no such file/],
  ])('%s is one line and exit 2', SLOW, async (_, name, says) => {
    const cwd = folder({ huge: '' });
    mkdirSync(join(cwd, 'd'));
    execFileSync('mkfifo', [join(cwd, 'fifo')]);
    truncateSync(join(cwd, 'huge'), 1024 ** 3);
    const ended = await within(['inspect', name], { cwd });
    expect(ended).toMatchObject({ code: 2, stdout: '' });
    expect(linesOf(ended.stderr)).toHaveLength(1);
    expect(ended.stderr).toMatch(says);
  });

  it.each([
    ['rubbish', Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919 + 131) % 256)), 'not UTF-8'],
    ['nothing', '', 'empty'],
    ['gzip', Buffer.from('1f8b0800', 'hex'), 'gzip'],
    ['JSON that nests deep', '{"sid":1,"turns":1,"decision":'.concat('['.repeat(200_000)), 'JSON'],
    ['YAML that nests deep', `tools: ${'- '.repeat(20_000)}\n`, 'text'],
    ['JSON with a million lists', `{"sid":1,"turns":1,"decision":[${'[],'.repeat(1_000_001)}[]]}`, 'JSON'],
    ['blanks in front of nothing', `tools:${' '.repeat(1_000_000)}\n${'\n'.repeat(1_000_000)}`, 'text'],
    ['a string without end', `{"sid":"decision${'\\"'.repeat(100_000)}`, 'JSON'],
  ])('%s is of no kind: exit 1, and what was tried', async (_, text, guess) => {
    const { code, json } = await inspectText(text);
    expect(code).toBe(1);
    expect(json).toMatchObject({ kind: 'unknown', guess: expect.stringContaining(guess) });
    expect(json['tried']).not.toEqual([]);
  });

  it.each([
    ['a record whose values nest deep', `{"sid":"s","turn":1,"decision":"DONE","inputs":${'['.repeat(900)}${']'.repeat(900)}}`],
    ['a file of sessions that is cut off', '{"format":"neuroscript-sessions","version":1,"sessions":[{"sid":"x"'],
    ['a file of sessions with other things in it', '{"format":"neuroscript-sessions","version":1,"sessions":[{"sid":5}]}'],
  ])('%s is damaged: exit 1, with a code', async (_, text) => {
    const { code, json } = await inspectText(text);
    expect(code).toBe(1);
    expect(json.error).toMatchObject({ code: expect.stringMatching(/^ERR_/) });
  });

  it('no control character of a name or a content reaches the terminal', async () => {
    const evil = 'e\u001b[2Jvil\u202e';
    const cwd = folder({
      [evil]: envelope(DONE, JSON.stringify({ subject: evil, fields: { [evil]: 1 } }), evil),
      pending: jsonl({ id: ID, timestamp: evil, plan: {} }),
    });
    const said = [await say(evil, { cwd }), await say('pending', { cwd })].map(({ text }) => text);
    const { stdout, stderr } = await within(['inspect', 'none\u001b[2J'], { cwd });
    for (const text of [...said, stdout + stderr]) {
      expect(text).not.toMatch(/[\u001b\u202e]/);
      expect(text).toContain('\\e[2J');
    }
  });

  it('the file is not changed, and nothing is left beside it', async () => {
    const cwd = folder({ 'p.ns': PROGRAM });
    const { mtimeMs } = statSync(join(cwd, 'p.ns'));
    await inspect('p.ns', { cwd });
    expect(statSync(join(cwd, 'p.ns')).mtimeMs).toBe(mtimeMs);
    expect(readdirSync(cwd)).toEqual(['p.ns']);
    expect(existsSync(join(cwd, 'p.ns-wal'))).toBe(false);
  });
});
