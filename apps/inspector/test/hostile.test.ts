// Sessions whose programs, agents and tools write markup, terminal sequences, characters that reverse text, and values of any size.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launch, NARROW, open } from './browser.ts';
import { type Answers, type Mock, mockServer, sessionRow, sessionView, turnRow, turnView, whole } from './mock.ts';

const MARKUP =
  '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script><style>*{display:none}</style>';
const ESCAPES =
  '\u001b[31mred\u001b[0m \u001b]8;;http://evil\u0007link \u202egnp.exe\u202c \u2066x\u2069 \u0000 zero\u200bwidth \u{e0041}tag';
/** What must be seen of them. */
const SEEN = ['\\e', '\\u{7}', '\\u{202e}', '\\u{2066}', '\\u{0}', '\\u{200b}', '\\u{e0041}'];
const EVIL = `${MARKUP} ${ESCAPES} \ud800 \u05d0\u05d1\u05d2 javascript:alert(1)`;
const SID = 's<b>x';

const LONG = 10_000_000;
const filler = (from: number, length: number) => 'x'.repeat(Math.max(0, Math.min(length, LONG - from)));
const DEEP = `${'['.repeat(60_000)}${']'.repeat(60_000)}`;

const call = {
  seq: 1,
  call: '1.1',
  kind: 'tool',
  name: EVIL,
  args: [whole(JSON.stringify(EVIL)), { text: filler(0, 60_000), length: LONG, part: 'call-1-arg-2' }],
  result: { text: DEEP.slice(0, 60_000), length: DEEP.length, part: 'call-1-result' },
  failed: null,
  verdict: {
    allowed: false,
    rule: EVIL,
    entry: EVIL,
    reason: EVIL,
    argument: EVIL,
    origins: [{ label: EVIL, from: EVIL, source: EVIL, line: 1 }],
  },
  ms: 1,
  cost: 0,
  begin: 0,
  at: { fork: EVIL, source: EVIL, line: 1, column: 1 },
  nested: EVIL,
  repeated: false,
} as const;

const error = { code: 'NS1', message: EVIL };
const row = turnRow(1, { decision: 'HALT', reason: 'ERR_EXEC', error, calls: 1, failed: 1, overridden: EVIL });
const turn = turnView(SID, row, {
  agent: { name: EVIL, asks: 1, tokens: 1, inputTokens: null, outputTokens: null },
  program: whole(`command\n  emit "${EVIL}"\nendcommand`),
  journal: [call],
  output: { text: `${EVIL}\n${filler(0, 60_000)}`, length: LONG, part: 'output' },
  scratchpad: whole(EVIL),
  whispers: [{ to: EVIL, text: whole(EVIL) }],
  lints: [{ code: EVIL, line: 1 }],
  tokens: [{ line: 1, token: EVIL, ok: false, decides: false, code: EVIL, message: EVIL, checks: [], claims: [EVIL] }],
  failure: { ...error, kind: 'runtime', name: EVIL, source: EVIL, line: 1, column: 1, hint: EVIL, lines: [EVIL] },
  envelope: { sections: null, text: whole(EVIL), problem: EVIL },
});
const head = sessionRow(SID, 1, {
  subject: EVIL,
  agent: EVIL,
  phase: 'waiting',
  damaged: EVIL,
  parent: { sid: EVIL, turn: 1, seq: 1 },
});

const ANSWERS: Answers = {
  about: { store: EVIL, approve: true },
  sessions: () => ({ sessions: [head], next: null }),
  session: () =>
    sessionView(head, {
      userdata: whole(EVIL),
      nested: [{ ...sessionRow(EVIL, 1), depth: 1, sum: { turns: 1, fuel: 1, tokens: 1, cost: 1 } }],
      calls: [
        {
          call: EVIL,
          turn: 1,
          tool: EVIL,
          args: [whole(EVIL)],
          reason: EVIL,
          since: 0,
          expiresAt: 9e15,
          completed: false,
          answer: { choices: [EVIL] },
          plan: null,
          refusal: EVIL,
        },
        {
          answer: 'truth',
          call: 'plan',
          turn: 1,
          tool: EVIL,
          args: [],
          reason: EVIL,
          since: 0,
          expiresAt: 9e15,
          completed: false,
          plan: {
            head: whole(EVIL),
            since: null,
            calls: [
              { tool: EVIL, effects: null, mayChange: true, change: null, terms: whole(EVIL), cost: EVIL, notes: [whole(EVIL)] },
            ],
            gone: [EVIL],
            notes: [whole(EVIL)],
          },
          refusal: null,
        },
      ],
    }),
  turns: () => [row],
  turn: () => turn,
  piece: (_, from) => ({ text: filler(from, 60_000), from, length: LONG }),
  heat: () => ({
    sid: SID,
    turn: 1,
    verdict: 'same',
    why: EVIL,
    sources: [{ name: EVIL, text: EVIL }],
    heat: {
      fuel: 10,
      us: 10,
      steps: 1,
      lines: [],
      outside: { fuel: 0, us: 0 },
      procedures: [
        { kind: 'procedure', name: EVIL, source: EVIL, line: 1, calls: 1, fuel: 10, us: 10, total: { fuel: 10, us: 10 } },
      ],
      flame: {
        frames: [{ kind: 'procedure', name: EVIL, source: EVIL, line: 1 }],
        // A path as deep as a script may recurse.
        nodes: Array.from({ length: 500 }, (_, index) => ({
          frame: 0,
          parent: index === 0 ? null : index - 1,
          fuel: 1,
          us: 1,
          count: 1,
        })),
      },
      notices: [EVIL],
    },
  }),
  steps: () => ({
    sid: SID,
    turn: 1,
    verdict: 'same',
    why: EVIL,
    steps: 1,
    visits: 1,
    step: {
      step: 1,
      source: EVIL,
      line: 1,
      column: 1,
      visit: 1,
      fuel: 1,
      stack: [
        { name: EVIL, source: EVIL, line: 1, variables: [{ name: EVIL, type: 'text', text: EVIL, cut: true, size: 9 }], more: 0 },
      ],
      more: 0,
    },
  }),
  log: () => ({
    log: EVIL,
    whole: 0,
    head: EVIL,
    broken: { place: 1, file: EVIL, line: 1, why: EVIL },
    repeated: null,
    total: 2,
    lines: [
      { line: 1, state: 'broken', text: EVIL, entry: null },
      {
        line: 2,
        state: 'behind',
        text: EVIL,
        entry: {
          ts: EVIL,
          sid: EVIL,
          above: [{ sid: EVIL, call: EVIL }],
          subject: EVIL,
          turn: 1,
          decision: EVIL,
          reason: EVIL,
          latencyMs: 1,
        },
      },
    ],
  }),
  series: () => ({
    source: 'log',
    stepMs: 1000,
    times: [0, 1000],
    decisions: { [EVIL]: [1, 2] },
    errors: { [EVIL]: [1, 2] },
    latency: { median: [1, null], p95: [1, null], most: [1, null] },
  }),
};

const TURN = `s/${encodeURIComponent(SID)}/t/1`;
const VIEWS = [
  '',
  `s/${encodeURIComponent(SID)}`,
  TURN,
  ...['program', 'calls', 'output', 'tokens', 'envelope', 'changes', 'flames', 'steps', 'trial'].map((part) => `${TURN}/${part}`),
  'log',
  'series',
];

let browser: Browser;
let mock: Mock;
before(async () => {
  [browser, mock] = await Promise.all([launch(), mockServer(ANSWERS)]);
});
after(async () => {
  await browser?.close();
  await mock?.close();
});

test('markup, terminal sequences and characters that reverse text stay text in every view', async () => {
  for (const path of VIEWS) {
    const { page, faults } = await open(browser, `${mock.address}#/${path}`, { viewport: NARROW });
    await page.waitForFunction(
      () => document.querySelector('main h1, main h2') !== null && document.querySelector('.pending') === null,
    );
    // The recorded time is of calls alone; names of procedures stand in the flames of a replay.
    if (path.endsWith('/flames')) {
      await page.getByRole('radio', { name: 'fuel' }).check();
      await page.locator('#procedures').waitFor();
    }
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    const found = await page.evaluate(() => ({
      title: document.title,
      // The page itself has none of these.
      foreign: document.querySelectorAll(
        'img, iframe, object, embed, b, main script, main style, [onerror], [href^="javascript"]',
      ).length,
      unseen: [...(document.body.textContent ?? '').matchAll(/(?![\n\t])[\p{C}\u2028\u2029]/gu)].map(({ 0: char }) =>
        char.codePointAt(0)?.toString(16),
      ),
      text: document.querySelector('main')?.textContent ?? '',
      wider: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    }));
    assert.doesNotMatch(found.title, /^owned/);
    assert.equal(found.foreign, 0, `#/${path}`);
    assert.deepEqual(found.unseen, [], `#/${path} shows characters that cannot be seen`);
    assert.equal(found.wider, 0, `#/${path} scrolls sideways`);
    // A first turn has no changes, and the text of a field is what it holds, to be edited.
    if (path === `${TURN}/trial`) assert.ok(found.text.includes('characters that cannot be seen here'));
    else if (path !== `${TURN}/changes`) {
      assert.ok(found.text.includes('<img src=x'), `#/${path} has no markup as text`);
      for (const seen of SEEN) assert.ok(found.text.includes(seen), `#/${path} does not show ${seen}`);
    }
    assert.deepEqual(faults, [], `#/${path}`);
    await page.context().close();
  }
});

test('a value of 10 MB is shown in pieces, and a deep one as it is written', async () => {
  const { page, faults } = await open(browser, `${mock.address}#/${TURN}/output`);
  const output = page.locator('section', { has: page.locator('#output') }).last();
  const shown = () => output.locator('pre').evaluate((element) => element.textContent?.length ?? 0);
  await output.getByText('of 10,000,000 characters').waitFor();
  assert.ok((await shown()) <= 20_500, `${await shown()} characters at once`);
  for (let more = 0; more < 4; more += 1) await output.getByRole('button', { name: 'Show more' }).click();
  await output.getByText(/^100,000 of/).waitFor();
  await page.goto(`${mock.address}#/${TURN}/calls`);
  await page.getByText('120,000 characters', { exact: true }).click();
  await page.waitForFunction(() =>
    [...document.querySelectorAll('pre')].some(({ textContent }) => textContent?.startsWith('[[[[')),
  );
  assert.deepEqual(faults, []);
  await page.context().close();
});
