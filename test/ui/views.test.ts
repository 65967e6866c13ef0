import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { decodeBase64Url, Keyring, ReplayCache, verifyToken } from '../../src/aeiou/index.ts';
import { MemoryStore } from '../../src/loop/index.ts';
import { plainPalette, renderError } from '../../src/report/index.ts';
import { callViews } from '../../src/ui/calls.ts';
import type {
  CompleteView,
  LogView,
  PieceView,
  ReplayView,
  SeriesView,
  SessionsView,
  SessionView,
  TryView,
  TurnView,
} from '../../src/ui/index.ts';
import { PAGE_SIZES, Texts } from '../../src/ui/texts.ts';
import type { TurnHeat, TurnStep } from '../../src/wire/heat.ts';
import { tempFolder } from '../folder.ts';
import { type Answered, answersOf, block, drive, hostRuntime, inspectorOf, magic, PROGRAMS, serve } from './kit.ts';

const resources = new AsyncDisposableStack();
const store = new MemoryStore();
const folder = tempFolder();
let log = '';
let served: Awaited<ReturnType<typeof serve>>;
let cookie = '';
beforeAll(async () => {
  log = join(folder, 'decisions.jsonl');
  await drive(store, PROGRAMS, { log });
  const runtime = resources.use(await hostRuntime());
  const inspector = resources.use(inspectorOf(store, { log, answers: answersOf(store, runtime) }));
  served = resources.use(await serve(inspector));
  cookie = await served.enter();
});
afterAll(async () => {
  expect(served.errors).toEqual([]);
  await resources.disposeAsync();
});

async function get<View>(path: string): Promise<View> {
  const { status, text } = await served.send(`/api/${path}`, { headers: { cookie } });
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  // The types of the answers are what these tests look at.
  return JSON.parse(text) as View;
}
const post = (path: string, body: object = {}): Promise<Answered> =>
  served.send(`/api/${path}`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const turn = (sid: string, number: number): Promise<TurnView> => get<TurnView>(`sessions/${sid}/turns/${number}`);

describe('issue 24: the list of sessions', () => {
  const sids = async (query: string): Promise<readonly string[]> =>
    (await get<SessionsView>(`sessions?${query}`)).sessions.map(({ sid }) => sid);

  const find = (words: string): Promise<readonly string[]> => sids(`q=${encodeURIComponent(words)}`);

  it('issue 49: has what changed last first, and finds in the language of queries', async () => {
    expect((await sids('')).toSorted()).toEqual(['denied', 'fails', 'good', 'waits']);
    expect(await find('status:done')).toEqual(['good']);
    expect(await find('status:waiting')).toEqual(['waits']);
    expect((await find('status:halted')).toSorted()).toEqual(['denied', 'fails']);
    expect(await find('error:ERR_POLICY')).toEqual(['denied']);
    expect(await find('agent:"OF GOOD"')).toEqual(['good']);
    expect(await find('"of fa"')).toEqual(['fails']);
    expect(await find('tool:stock.count status:done')).toEqual(['good']);
    expect(await find(`since:${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([]);
  });

  it('goes on with the next page, and refuses what is no query', async () => {
    const first = await get<SessionsView>('sessions?limit=3');
    expect(first.sessions).toHaveLength(3);
    const second = await get<SessionsView>(`sessions?limit=3&after=${encodeURIComponent(first.next ?? '')}`);
    expect(second.sessions).toHaveLength(1);
    expect(second.next).toBeNull();
    for (const query of ['limit=0', 'limit=x', 'q=status:odd', 'q=odd:x', 'after=odd', 'q=since:soon'])
      expect((await served.send(`/api/sessions?${query}`, { headers: { cookie } })).status).toBe(400);
  });
});

describe('issue 24: one session', () => {
  it('has its turns with use and limits', async () => {
    const view = await get<SessionView>('sessions/good');
    expect(view).toMatchObject({
      phase: 'done',
      turns: 2,
      agent: 'agent of good',
      subject: 'subject of good',
      calls: [],
      nested: [],
    });
    expect(view.timeline.turns.map(({ turn: number, decision, calls }) => [number, decision, calls])).toEqual([
      [1, 'CONTINUE', 2],
      [2, 'DONE', 2],
    ]);
    const [first] = view.timeline.turns;
    expect(first?.measures.find(({ limit }) => limit === 'fuel')?.used).toBeGreaterThan(0);
    expect(first?.measures.every(({ allowed }) => allowed !== null && allowed > 0)).toBe(true);
    expect(await get('sessions/good/turns?after=1')).toMatchObject({ turns: [{ turn: 2 }], next: null });
    expect(await get('sessions/good/turns?limit=1')).toMatchObject({ turns: [{ turn: 1 }], next: 1 });
  });

  it('is unknown, or has no such turn', async () => {
    for (const path of ['sessions/unknown', 'sessions/good/turns/9', 'sessions/waits/turns/1'])
      expect((await served.send(`/api/${path}`, { headers: { cookie } })).status).toBe(404);
  });
});

describe('issue 24: one turn', () => {
  it('shows sections, program, calls with verdicts, emits and whispers', async () => {
    const view = await turn('good', 1);
    expect(view.program?.text).toBe(PROGRAMS['good']?.[0]);
    expect(view.envelope.sections).toMatchObject({
      userdata: { text: expect.stringContaining('subject of good') },
      output: null,
    });
    expect(view.journal[0]).toMatchObject({
      ...{ call: '1.1', kind: 'tool', name: 'tool.stock.count', result: { text: '3' }, failed: null },
      verdict: { allowed: true, rule: 'allow', entry: '*' },
      at: { source: 'ACTIONS', line: 2 },
    });
    // Issue 49: on the axis of the turn, behind the phases before its run.
    const run = view.phases.find(({ name }) => name === 'queue')?.begin ?? 0;
    expect(view.journal[0]?.begin).toBeGreaterThanOrEqual(run);
    expect(view.journal[1]?.begin).toBeGreaterThanOrEqual((view.journal[0]?.begin ?? 0) + (view.journal[0]?.ms ?? 0));
    expect(view.output.text).toMatch(/^there are 3\n<<<NSMAG/);
    expect(view.scratchpad.text).toBe('counted\n');
    expect(view.record).toEqual({ version: 1, seal: 'whole', faults: [], erased: [], outputComplete: true, notExecutable: null });
    expect([view.before, view.after]).toEqual([null, 2]);
    expect((await turn('good', 2)).envelope.sections?.output?.text).toContain('there are 3');
  });

  it('issue 46: says of a call that was refused for where an argument came from the sink, the argument and the line', async () => {
    const other = new MemoryStore();
    await drive(other, { origin: [block('set n = tool.stock.Count("tea")', 'emit tool.stock.Order("tea", n)', magic('done'))] });
    const [record] = await other.turns('origin');
    if (record === undefined) throw new Error('the turn was not kept');
    const [counted, ordered] = callViews(record, new Texts(PAGE_SIZES, { parts: true })).journal;
    expect(counted?.verdict).toMatchObject({ allowed: true, argument: null, origins: [] });
    expect(ordered?.verdict).toMatchObject({
      ...{ allowed: false, rule: 'flow', entry: 'tool.stock.Order.number', argument: 'number' },
      origins: [{ label: 'counted', from: 'tool.stock.count', source: 'ACTIONS', line: 2 }],
    });
  });

  it('issue 22.1 and 49: calls that run together begin together, as it was recorded, and the next one when they have ended', async () => {
    const other = new MemoryStore();
    const count = (name: string): string => `set ${name} = tool.stock.Count("${name}")`;
    await drive(other, { both: [block('together', count('a'), count('b'), 'endtogether', count('c'), magic('done'))] });
    const [record] = await other.turns('both');
    if (record === undefined) throw new Error('the turn was not kept');
    const [a, b, c] = callViews(record, new Texts(PAGE_SIZES, { parts: true })).journal;
    expect([a?.at.together, b?.at.together, c?.at.together]).toEqual([1, 1, undefined]);
    const ends = [a, b].map((call) => (call?.begin ?? 0) + (call?.ms ?? 0));
    expect(c?.begin).toBeGreaterThanOrEqual(Math.max(...ends));
  });

  it('issue 49: a list has code, duration, tokens, cost and attempts of the last turn', async () => {
    const { sessions } = await get<SessionsView>('sessions');
    const last = (sid: string) => sessions.find((each) => each.sid === sid)?.last;
    expect(last('good')).toEqual({ code: null, ms: expect.any(Number), tokens: 0, cost: 0, attempts: 1, changed: false });
    expect(last('fails')?.code).toMatch(/^NS/);
    expect(last('waits')).toBeNull();
  });

  it('shows an error as the terminal does', async () => {
    const { failure, program } = await turn('fails', 1);
    const [record] = await store.turns('fails');
    if (record?.error == null) throw new Error('the turn did not fail');
    expect(failure?.lines).toEqual(renderError(record.error, new Map([['ACTIONS', program?.text ?? '']]), plainPalette));
    expect(failure?.lines.join('\n')).toContain('set x = 1 / 0');
  });

  it('says which rule denied which tool', async () => {
    const view = await turn('denied', 1);
    expect(view).toMatchObject({ decision: 'HALT', reason: 'ERR_POLICY', journal: [] });
    expect(view.denied).toMatchObject({ tool: 'tool.stock.sell', verdict: { allowed: false, rule: 'deny' } });
  });

  it('has what it takes to verify its tokens again', async () => {
    const { tokens, verify, sid, turn: number } = await turn('good', 2);
    const [token] = tokens;
    if (token === undefined || verify === null) throw new Error('the turn has no token');
    expect(token).toMatchObject({ ok: true, decides: true, code: null });
    expect(token.checks.every(({ verdict }) => verdict === 'passed')).toBe(true);
    expect(token.claims.join('\n')).toContain('LOOP done');
    const clock = { now: () => verify.now };
    const keys = new Keyring({ clock });
    for (const { kid, alg, publicKey } of verify.keys) {
      const bytes = decodeBase64Url(publicKey ?? '');
      if (alg === 'Ed25519' && bytes !== null) keys.add({ kid, alg, role: 'retired', publicKey: bytes });
    }
    const facts = { sessionId: sid, turnIndex: number, turnNonce: verify.nonce, now: verify.now / 1000 };
    const options = { ...facts, keys, clockSkew: verify.clockSkew, replay: new ReplayCache({ clock }) };
    expect(verifyToken(token.token, options)).toMatchObject({ ok: true });
    expect(verifyToken(token.token, { ...options, turnIndex: 1 })).toMatchObject({ ok: false });
  });

  it('is replayed, and tried out with another answer, without any tool', async () => {
    const replay: ReplayView = JSON.parse((await post('sessions/good/turns/1/replay')).text);
    expect(replay).toMatchObject({ verdict: 'same', faults: [], divergence: null });
    const body = { answers: { '2.1': { value: 1 } } };
    const tried: TryView = JSON.parse((await post('sessions/good/turns/2/try', body)).text);
    expect(tried.turns[0]?.recorded.output.text).toContain('enough');
    expect(tried.turns[0]?.tried.output.text).toContain('order some');
    expect(tried.turns[0]?.differences.map(({ where }) => where)).toContain('line 1 of OUTPUT');
    const fails: TryView = JSON.parse(
      (await post('sessions/good/turns/2/try', { answers: { 'tool.stock.count': { error: 'gone' } } })).text,
    );
    expect(fails.turns[0]?.tried).toMatchObject({ decision: 'HALT', failure: { message: expect.stringContaining('gone') } });
    const program = 'command\n  emit "other"\nendcommand';
    const other: TryView = JSON.parse((await post('sessions/good/turns/1/try', { program })).text);
    expect(other.turns[0]?.tried).toMatchObject({ program: { text: program }, output: { text: 'other\n' } });
    expect(await store.turns('good')).toHaveLength(2);
  });

  it('shows its heat by line, and the variables at a statement', async () => {
    const heat = await get<TurnHeat>('sessions/good/turns/1/heat');
    expect(heat).toMatchObject({ verdict: 'same', sources: [{ name: 'ACTIONS' }] });
    const usage = (await turn('good', 1)).usage;
    expect(heat.heat?.fuel).toBe(usage.fuel);
    const at = await get<TurnStep>('sessions/good/turns/1/steps?at=3');
    expect(at.step).toMatchObject({
      line: 3,
      stack: [{ variables: expect.arrayContaining([expect.objectContaining({ name: 'n', text: '3' })]) }],
    });
    expect(await get(`sessions/good/turns/1/steps?step=${at.step?.step ?? 0}`)).toMatchObject({ step: { line: 3 } });
    for (const query of ['', 'at=x', 'step=0'])
      expect((await served.send(`/api/sessions/good/turns/1/steps?${query}`, { headers: { cookie } })).status).toBe(400);
  });

  it.each([[[]], [{ program: 1 }], [{ answers: { x: { value: 1 } } }], [{ answers: { '1.1': 1 } }], [{ more: 1 }]])(
    'refuses the trial %j',
    async (body) => {
      expect((await post('sessions/good/turns/1/try', body)).status).toBe(400);
    },
  );
});

describe('issue 24: the log', () => {
  it('is whole, or shows the first line that does not follow', async () => {
    const view = await get<LogView>('log');
    expect(view).toMatchObject({ broken: null, repeated: null, total: 4, whole: 4 });
    expect(view.lines.map(({ state, entry }) => [state, entry?.sid])).toEqual([
      ['follows', 'good'],
      ['follows', 'good'],
      ['follows', 'fails'],
      ['follows', 'denied'],
    ]);
    expect(await get('log?after=1&limit=1')).toMatchObject({ lines: [{ line: 2 }] });
    const text = await readFile(log, 'utf8');
    const broken = inspectorOf(store, { log: join(folder, 'broken.jsonl') });
    await writeFile(join(folder, 'broken.jsonl'), text.replace('"fails"', '"other"'));
    const read = async () =>
      (await broken.read({ path: ['log'], query: new URLSearchParams(), signal: new AbortController().signal })) as LogView;
    expect(await read()).toMatchObject({
      broken: { place: 3, line: 3, why: 'it was changed: its hash does not fit' },
      whole: 2,
      total: 4,
    });
    expect((await read()).lines.map(({ state }) => state)).toEqual(['follows', 'follows', 'broken', 'behind']);
    await appendFile(join(folder, 'broken.jsonl'), '{"half":');
    expect(await read()).toMatchObject({ total: 5, lines: { 4: { entry: null, state: 'behind' } } });
  });

  it('is counted over time; without a log the turns are', async () => {
    const expected = { decisions: { CONTINUE: 1, DONE: 1, HALT: 2 }, errors: { ERR_EXEC: 1, ERR_POLICY: 1 } };
    const sums = ({ decisions, errors }: SeriesView) => ({ decisions: summed(decisions), errors: summed(errors) });
    const summed = (counts: SeriesView['errors']) =>
      Object.fromEntries(Object.entries(counts).map(([name, each]) => [name, each.reduce((a, b) => a + b, 0)]));
    const counted = await get<SeriesView>('series');
    expect([counted.source, sums(counted)]).toEqual(['log', expected]);
    expect(counted.times).toHaveLength(counted.latency.median.length);
    const none = inspectorOf(store);
    const query = new URLSearchParams();
    const others = (await none.read({ path: ['series'], query, signal: new AbortController().signal })) as SeriesView;
    expect([others.source, sums(others)]).toEqual(['sessions', expected]);
    expect(await get(`series?since=${Date.now() + 1000}`)).toMatchObject({ source: 'log', times: [] });
  });
});

describe('issue 24: what a page may change', () => {
  it('answers a call that waits only if it was allowed to, and runs nothing', async () => {
    const { calls } = await get<SessionView>('sessions/waits');
    expect(calls).toMatchObject([{ call: '1.1', tool: 'tool.human.approve', args: [{ text: '"sell"' }], refusal: null }]);
    const piece = await get<PieceView>('sessions/waits/turns/1/parts/waiting.1.1.0?from=2');
    expect(piece).toEqual({ text: 'ell"', from: 2, length: 6 });
    await using without = await serve(inspectorOf(store));
    const headers = { cookie: await without.enter(), 'content-type': 'application/json' };
    const refused = await without.send('/api/sessions/waits/complete', {
      method: 'POST',
      headers,
      body: '{"call":"1.1","value":true}',
    });
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining('--approve')]);
    for (const body of [{ call: '1.1' }, { call: '1.1', value: 1, error: 'x' }, {}])
      expect((await post('sessions/waits/complete', body)).status).toBe(400);
    expect(await post('sessions/waits/complete', { call: '1.1', value: 'no bool' })).toMatchObject({
      status: 409,
      text: expect.stringContaining('ERR_CALL_TYPE'),
    });
    expect((await post('sessions/waits/complete', { call: '1.9', value: true })).status).toBe(409);
    const done: CompleteView = JSON.parse((await post('sessions/waits/complete', { call: '1.1', value: true })).text);
    expect(done.calls).toMatchObject([{ completed: true }]);
    expect(await store.turns('waits')).toEqual([]);
  });

  it('never answers a plan of the gate', async () => {
    const gated = { refusal: () => 'a plan of the gate', complete: () => Promise.reject(new Error('it was answered')) };
    await using inspector = inspectorOf(store, { answers: gated });
    const acting = inspector.act(
      { path: ['sessions', 'waits', 'complete'], signal: new AbortController().signal },
      { call: '1.1', value: true },
    );
    await expect(acting).rejects.toMatchObject({ status: 403, message: 'a plan of the gate' });
  });

  it('cancels a session once', async () => {
    expect(JSON.parse((await post('sessions/waits/cancel')).text)).toEqual({ ended: true });
    expect(await store.summary('waits')).toMatchObject({ status: 'halted', reason: 'ERR_CANCELLED' });
    expect((await post('sessions/waits/cancel')).status).toBe(409);
    expect((await post('sessions/unknown/cancel')).status).toBe(404);
  });
});
