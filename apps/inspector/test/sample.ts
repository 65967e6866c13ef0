// A session with something in every view: calls of each kind, a denied call, signed tokens, whispers, heat and steps.
import { encodeBase64Url } from '../../../src/crypto/index.ts';
import { generateKeys, keyringFrom, mintToken, newTurnNonce, publicKeys } from '../../../src/entries/aeiou.ts';
import type { AttemptView, CallView, ErrorView, SessionView, TokenView, TurnView } from '../../../src/ui/views.ts';
import type { TurnHeat, TurnStep } from '../../../src/wire/heat.ts';
import { type Answers, NO_ORIGIN, NOW, sessionRow, sessionView, turnRow, turnView, whole } from './mock.ts';
import { PLAN } from './plan.ts';

export const SID = 'nightly-report';
const ASK = `${SID}.ask`;
const TOP = { sid: SID, call: '3.2' };

const PROGRAM = `func total(list) returns sum
  set sum = 0
  for each row in list
    set sum = sum + row["amount"]
  endfor
  return sum
endfunc

command
  set rows = tool.db.Query("select * from orders")
  set sum = total(rows)
  whisper "log", "sum " + sum
  emit "the sum is " + sum
  call tool.fs.Delete("/var/reports/old")
endcommand
`;

const clock = { now: () => NOW };
const keys = generateKeys('sample');
const nonce = newTurnNonce();

const signer = keyringFrom(keys, { clock }).signer('primary');
if (signer === null) throw new Error('no key can sign');

const tokens = await Promise.all(
  [1, 2, 3].map((turn) =>
    mintToken(
      {
        sessionId: SID,
        turnIndex: turn,
        turnNonce: nonce,
        jti: `jti-${turn}`,
        issuedAt: Math.floor(NOW / 1000),
        ttl: 120,
        payload: { action: 'continue' },
      },
      signer,
    ),
  ),
);

const CHECKS = ['form', 'key', 'canonical payload', 'signature', 'fields', 'session', 'turn', 'nonce', 'time', 'first use'];

/** A token with the verdicts of the host; `failed` is the check that failed. */
function tokenView(line: number, token: string, failed: string | null): TokenView {
  const at = failed === null ? CHECKS.length : CHECKS.indexOf(failed);
  return {
    line,
    token,
    ok: failed === null,
    decides: failed === null,
    code: failed === null ? null : 'ERR_TOKEN_VERIFY',
    message: failed === null ? null : 'the tag does not belong to the payload',
    checks: CHECKS.map((name, index) => ({ name, verdict: index < at ? 'passed' : index === at ? 'failed' : 'not reached' })),
    claims: ['LOOP continue, signed with sample-primary', `session ${SID}, turn 1`],
  };
}

const call = (seq: number, name: string, line: number, more: Partial<CallView>): CallView => ({
  seq,
  call: `3.${seq}`,
  kind: 'tool',
  name,
  args: [],
  result: null,
  failed: null,
  verdict: { ...NO_ORIGIN, allowed: true, rule: 'allow', entry: 'tool.db.*', reason: 'the policy allows it' },
  ms: 12,
  cost: 0,
  begin: (seq - 1) * 12,
  at: { fork: 'f0', source: 'ACTIONS', line, column: 14 },
  nested: null,
  repeated: false,
  ...more,
});

const JOURNAL: readonly CallView[] = [
  call(1, 'tool.db.Query', 10, {
    args: [whole('"select * from orders"')],
    result: whole(JSON.stringify(Array.from({ length: 30 }, (_, id) => ({ id, amount: id * 3 })))),
    ms: 41,
  }),
  call(2, 'model-b', 11, { kind: 'ask', verdict: null, begin: 41, ms: 180, nested: ASK, result: whole('"fine"') }),
  call(3, 'tool.fs.Delete', 14, {
    begin: 221,
    ms: 1,
    args: [whole('"/var/reports/old"')],
    failed: { code: 'NS1003', message: "tool 'tool.fs.Delete' is denied", hint: 'ask the owner of the policy', halted: false },
    verdict: { ...NO_ORIGIN, allowed: false, rule: 'deny', entry: 'tool.fs.*', reason: 'the policy denies tool.fs' },
  }),
];

const halted = sessionRow(SID, 3, { phase: 'halted', reason: 'ERR_EXEC', subject: 'Nightly report of orders' });

const SESSION: SessionView = sessionView(halted, {
  sum: { turns: 4, fuel: 12_445, tokens: 40, cost: 1200.05 },
  nested: [
    {
      ...sessionRow(ASK, 1, { phase: 'done', parent: { sid: SID, turn: 3, seq: 2 }, above: [TOP] }),
      depth: 1,
      sum: { turns: 2, fuel: 100, tokens: 40, cost: 0.0012 },
    },
    {
      ...sessionRow('7b1c0e5e', 1, {
        phase: 'done',
        parent: { sid: ASK, turn: 1, seq: 4 },
        above: [TOP, { sid: ASK, call: '1.4' }],
      }),
      depth: 2,
      sum: { turns: 1, fuel: 60, tokens: 0, cost: 0 },
    },
  ],
});

const WAITING: SessionView = sessionView(sessionRow('approval-7', 1, { phase: 'waiting', waiting: 1, started: 2 }), {
  calls: [
    {
      call: '2.1',
      turn: 2,
      tool: 'tool.mail.Send',
      args: [whole('"to everyone"')],
      reason: 'a human must approve it',
      since: NOW - 60_000,
      expiresAt: Date.now() + 3_600_000,
      ...{ answer: 'truth', plan: null },
      completed: false,
      refusal: null,
    },
  ],
});

const ERROR = { code: 'NS1003', message: "tool 'tool.fs.Delete' is denied" };

const FAILURE: ErrorView = {
  ...ERROR,
  kind: 'policy',
  name: 'ToolDenied',
  source: 'ACTIONS',
  line: 14,
  column: 8,
  hint: 'ask the owner of the policy',
  lines: [`ACTIONS:14:8: ${ERROR.message} (NS1003)`, '      call tool.fs.Delete("/var/reports/old")', '           ^'],
};

const SLIP = PROGRAM.replace('set rows', 'let rows');

/** The attempts at the last turn that did not decide it. */
const ATTEMPTS: readonly AttemptView[] = [
  {
    attempt: 1,
    end: 'rejected',
    program: whole(SLIP),
    failure: {
      ...{
        kind: 'syntax',
        code: 'NS15',
        name: 'SyntaxError',
        message: 'unexpected name rows',
        source: 'ACTIONS',
        line: 10,
        column: 3,
      },
      hint: "write 'set'",
      lines: ['ACTIONS:10:3: unexpected name rows (NS15)', '  hint: write set'],
    },
    problems: ['14:8: unknown tool tool.fs.Delet (NS3)'],
    calls: 0,
    journal: [],
    taken: 0,
    output: whole(''),
  },
  {
    attempt: 2,
    end: 'failed',
    program: whole(PROGRAM.replace('amount', 'amonut')),
    failure: FAILURE,
    problems: [],
    calls: 2,
    journal: JOURNAL.slice(0, 2),
    taken: 1,
    output: whole(''),
  },
];

function turn(number: number): TurnView {
  const row = turnRow(number);
  const after = number < 3 ? number + 1 : null;
  const token = tokens[number - 1] ?? '';
  const forged = `${token.slice(0, -7)}${token.at(-7) === 'A' ? 'B' : 'A'}${token.slice(-6)}`;
  const before = PROGRAM.replace('  whisper "log", "sum " + sum\n', '').replace('old', `old-${number}`);
  const common = {
    after,
    program: whole(before),
    output: whole(`the sum is ${number}\n${forged}\n${token}\n`),
    tokens: [tokenView(2, forged, 'signature'), tokenView(3, token, null)],
    carries: { output: 'web from tool.web.get (ACTIONS:2)', scratchpad: null },
    verify: {
      nonce,
      keys: publicKeys(keys).map((key) => ({
        kid: key.kid,
        alg: key.alg,
        publicKey: 'publicKey' in key ? encodeBase64Url(key.publicKey) : null,
      })),
      now: NOW,
      clockSkew: 5,
      fresh: [true],
    },
  };
  if (number < 3) return turnView(SID, row, common);
  return turnView(
    SID,
    { ...row, decision: 'HALT', reason: 'ERR_EXEC', calls: 3, failed: 1, error: ERROR },
    {
      ...common,
      program: whole(PROGRAM),
      journal: JOURNAL,
      scratchpad: whole('sum 435\n'),
      whispers: [{ to: 'log', text: whole('sum 435') }],
      lints: [{ code: 'LINT_POST_TOKEN_TEXT', line: 3 }],
      failure: FAILURE,
      attempts: ATTEMPTS,
      leftOver: [{ attempt: 2, seq: 2, tool: 'tool.mail.send' }],
    },
  );
}

const lineHeat = (line: number, fuel: number, visits: number) => ({
  source: 'ACTIONS',
  line,
  fuel,
  us: fuel * 2,
  visits,
  total: { fuel, us: fuel * 2 },
});

const MEASURED = { sid: SID, turn: 3, verdict: 'same', why: null } as const;

const HEAT: TurnHeat = {
  ...MEASURED,
  sources: [{ name: 'ACTIONS', text: PROGRAM }],
  heat: {
    fuel: 900,
    us: 2000,
    steps: 66,
    lines: [
      lineHeat(2, 2, 1),
      lineHeat(3, 90, 1),
      lineHeat(4, 600, 30),
      lineHeat(10, 60, 1),
      lineHeat(11, 20, 1),
      lineHeat(13, 30, 1),
    ],
    outside: { fuel: 98, us: 10 },
    procedures: [
      {
        kind: 'commands',
        name: 'command',
        source: 'ACTIONS',
        line: 9,
        calls: 1,
        fuel: 110,
        us: 400,
        total: { fuel: 802, us: 1900 },
      },
      {
        kind: 'procedure',
        name: 'total',
        source: 'ACTIONS',
        line: 1,
        calls: 1,
        fuel: 692,
        us: 1500,
        total: { fuel: 692, us: 1500 },
      },
    ],
    flame: {
      frames: [
        { kind: 'commands', name: 'command', source: 'ACTIONS', line: 9 },
        { kind: 'tool', name: 'tool.db.Query', source: 'ACTIONS', line: 10 },
        { kind: 'procedure', name: 'total', source: 'ACTIONS', line: 1 },
        { kind: 'statement', name: 'for', source: 'ACTIONS', line: 3 },
      ],
      nodes: [
        { frame: 0, parent: null, fuel: 50, us: 300, count: 1 },
        { frame: 1, parent: 0, fuel: 60, us: 100, count: 1 },
        { frame: 2, parent: 0, fuel: 92, us: 200, count: 1 },
        { frame: 3, parent: 2, fuel: 600, us: 1300, count: 30 },
      ],
    },
    notices: [],
  },
};

function step(query: URLSearchParams): TurnStep {
  const number = Number(query.get('step') ?? 40);
  return {
    ...MEASURED,
    steps: 66,
    visits: 30,
    step: {
      step: number,
      source: 'ACTIONS',
      line: 4,
      column: 5,
      visit: number,
      fuel: number * 13,
      stack: [
        {
          name: 'total',
          source: 'ACTIONS',
          line: 4,
          variables: [
            { name: 'sum', type: 'number', text: String(number * 3), cut: false, size: null },
            { name: 'list', type: 'list', text: '[{"id":0,"amount":0},{"id":1,', cut: true, size: 30 },
          ],
          more: 0,
        },
        { name: 'command', source: 'ACTIONS', line: 11, variables: [], more: 2 },
      ],
      more: 0,
    },
  };
}

const STEPS = 48;
const times = Array.from({ length: STEPS }, (_, index) => NOW - (STEPS - index) * 60_000);

const LOGGED = { ts: '2026-11-23T08:00:00Z', sid: SID, above: [], subject: 'Nightly report', decision: 'CONTINUE', reason: null };

/** The answers to everything that a reader of the sample asks. */
export const SAMPLE: Answers = {
  about: { approve: true, log: 'decisions.jsonl' },
  sessions: () => ({
    sessions: [
      halted,
      WAITING,
      PLAN,
      sessionRow('import-3', 12, { phase: 'done' }),
      sessionRow('crawler', 400, { phase: 'open', driven: true }),
    ],
    next: null,
  }),
  session: (sid) => [SESSION, WAITING, PLAN].find((each) => each.sid === sid) ?? null,
  turns: (_, after, limit) =>
    [1, 2, 3]
      .filter((number) => number > after)
      .slice(0, limit)
      .map(turn),
  turn: (_, number) => (number > 3 ? null : turn(number)),
  heat: () => HEAT,
  steps: step,
  log: () => ({
    log: 'decisions.jsonl',
    whole: 3,
    head: 'kJ0-made-up',
    broken: { place: 4, file: 'decisions.jsonl', line: 4, why: 'its hash does not follow from the line before' },
    repeated: null,
    total: 5,
    lines: [1, 2, 3, 4, 5].map((line) => ({
      line,
      state: line < 4 ? 'follows' : line === 4 ? 'broken' : 'behind',
      text: `{"line":${line}}`,
      entry: line === 4 ? null : { ...LOGGED, turn: line, latencyMs: 20 + line },
    })),
  }),
  series: () => ({
    source: 'log',
    stepMs: 60_000,
    times,
    decisions: { CONTINUE: times.map((_, index) => index % 9), DONE: times.map((_, index) => index % 3) },
    errors: { ERR_EXEC: times.map((_, index) => (index % 12 === 0 ? 1 : 0)) },
    latency: {
      median: times.map((_, index) => 20 + (index % 5)),
      p95: times.map((_, index) => 60 + (index % 9)),
      most: times.map((_, index) => (index % 10 === 0 ? null : 100)),
    },
  }),
  tryOut: () => {
    const recorded = turn(3);
    const tried = { ...turnView(SID, turnRow(3, { decision: 'DONE' })), output: whole('the sum is 435\nall is well\n') };
    return {
      turns: [
        { turn: 3, recorded, tried, differences: [{ where: 'decision', recorded: 'HALT', replayed: 'DONE' }], unanswered: [] },
      ],
      end: 'the session would be done',
    };
  },
};
