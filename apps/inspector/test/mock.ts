// A server with the answers of `src/ui/views.ts` and made-up data of any size, for what a real store would take too long to hold.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { extname } from 'node:path';
import type { LogView, SeriesView } from '../../../src/ui/logviews.ts';
import type { TryView } from '../../../src/ui/trialviews.ts';
import type {
  AboutView,
  CallView,
  ChangeView,
  SessionRow,
  SessionView,
  TextView,
  TurnRow,
  TurnView,
} from '../../../src/ui/views.ts';
import type { TurnHeat, TurnStep } from '../../../src/wire/heat.ts';

const DIST = new URL('../dist/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css' };

/** The policy of the real server. */
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export const NOW = Date.UTC(2026, 10, 23, 8, 0, 0);

export const whole = (text: string): TextView => ({ text, length: text.length, part: null });

export function sessionRow(sid: string, turns: number, more: Partial<SessionRow> = {}): SessionRow {
  return {
    sid,
    tenant: 'default',
    profile: 'default',
    reason: null,
    subject: `subject of ${sid}`,
    agent: 'model-a',
    turns,
    createdAt: NOW - 600_000,
    updatedAt: NOW - 60_000,
    started: null,
    owed: 0,
    parent: null,
    above: [],
    damaged: null,
    phase: 'open',
    last: turns === 0 ? null : { code: null, ms: 24, tokens: 1200, cost: 0, attempts: 1, changed: false },
    waiting: 0,
    driven: false,
    ...more,
  };
}

export function sessionView(row: SessionRow, more: Partial<SessionView> = {}): SessionView {
  return {
    ...row,
    userdata: whole('{"subject":"s","fields":{}}'),
    message: null,
    sum: { turns: row.turns, fuel: 12_345, tokens: 0, cost: 0 },
    lease: null,
    calls: [],
    nested: [],
    timeline: { turns: [], damaged: [], changed: [], next: null },
    ...more,
  };
}

export function turnRow(turn: number, more: Partial<TurnRow> = {}): TurnRow {
  return {
    turn,
    startedAt: NOW - 500_000 + turn * 40,
    latencyMs: 20 + (turn % 7),
    phases: [
      { name: 'store', begin: 0, ms: 1 },
      { name: 'prepare', begin: 1, ms: 1 },
      { name: 'queue', begin: 2, ms: 1 },
      { name: 'load', begin: 3, ms: 1 },
      { name: 'run', begin: 4, ms: 15 },
      { name: 'verify', begin: 19, ms: 1 },
    ],
    callsMs: 6,
    decision: 'CONTINUE',
    reason: null,
    overridden: null,
    agent: { name: 'model-a', asks: 1, tokens: 0, inputTokens: null, outputTokens: null },
    cost: 0,
    calls: turn % 4,
    failed: 0,
    slowest: null,
    measures: [
      { limit: 'fuel', unit: 'count', used: 1000 * (turn % 10), allowed: 10_000 },
      { limit: 'cpuMs', unit: 'ms', used: 8, allowed: 1000 },
      { limit: 'memoryBytes', unit: 'bytes', used: 40_000, allowed: 64_000_000 },
      { limit: 'outputBytes', unit: 'bytes', used: 300, allowed: 262_144 },
    ],
    error: null,
    ...more,
  };
}

export function turnView(sid: string, row: TurnRow, more: Partial<TurnView> = {}): TurnView {
  const program = 'command\n  emit "hello"\nendcommand\n';
  return {
    ...row,
    sid,
    above: [],
    before: row.turn > 1 ? row.turn - 1 : null,
    after: null,
    program: whole(program),
    journal: [],
    more: false,
    denied: null,
    output: whole('hello\n'),
    scratchpad: whole(''),
    carries: { output: null, scratchpad: null },
    whispers: [],
    lints: [],
    usage: { fuel: 10, cpuMs: 1, wallMs: 2, peakMemoryBytes: 100, toolCalls: 0, outputBytes: 6, queueMs: 0 },
    failure: null,
    record: { version: 1, seal: 'whole', faults: [], erased: [], outputComplete: true, notExecutable: null },
    envelope: {
      sections: {
        userdata: whole('{"subject":"s","fields":{}}'),
        scratchpad: null,
        output: whole('hello\n'),
        actions: whole(program),
      },
      text: null,
      problem: null,
    },
    attempts: [],
    leftOver: [],
    tokens: [],
    verify: null,
    host: null,
    ...more,
  };
}

/** What a verdict has of a rule that is not about origin. */
export const NO_ORIGIN = { argument: null, origins: [] } as const;

/** What a mock server answers; a function that is not given answers with 404. */
export interface Answers {
  readonly about?: Partial<AboutView>;
  readonly sessions?: (query: URLSearchParams) => { sessions: readonly SessionRow[]; next: string | null };
  readonly session?: (sid: string) => SessionView | null;
  readonly turns?: (sid: string, after: number, limit: number) => readonly TurnRow[];
  /** Turns that cannot be read. */
  readonly damaged?: readonly number[];
  readonly turn?: (sid: string, turn: number) => TurnView | null;
  readonly calls?: (after: number) => { calls: readonly CallView[]; more: boolean };
  readonly piece?: (part: string, from: number) => { text: string; from: number; length: number };
  readonly heat?: (sid: string, turn: number) => TurnHeat;
  readonly steps?: (query: URLSearchParams) => TurnStep;
  readonly tryOut?: () => TryView;
  readonly log?: () => LogView;
  readonly series?: () => SeriesView;
}

export interface Mock {
  readonly address: string;
  /** Tells every open page of a change. */
  readonly tell: (change: ChangeView) => void;
  /** Number of pages that listen. */
  readonly listeners: () => number;
  readonly close: () => Promise<void>;
}

export async function mockServer(answers: Answers): Promise<Mock> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/api/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
    } else if (url.pathname.startsWith('/api/')) {
      const answer = answerOf(answers, url, request);
      const body = JSON.stringify(answer ?? { error: { code: 'ERR_TEST', message: `the mock has no ${url.pathname}` } });
      response.writeHead(answer === null ? 404 : 200, { 'content-type': 'application/json' }).end(body);
    } else file(url.pathname, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new TypeError('the mock has no port');
  return {
    address: `http://127.0.0.1:${bound.port}/`,
    tell: (change) => {
      for (const stream of streams) stream.write(`data: ${JSON.stringify(change)}\n\n`);
    },
    listeners: () => streams.size,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function file(path: string, response: ServerResponse): void {
  try {
    const body =
      path === '/empty'
        ? '<!doctype html><title>e</title><h1>empty</h1>'
        : readFileSync(new URL(`.${path === '/' ? '/index.html' : path}`, DIST));
    const type = TYPES[extname(path)] ?? 'text/html';
    response.writeHead(200, { 'content-type': type, 'content-security-policy': CSP }).end(body);
  } catch {
    response.writeHead(404).end();
  }
}

function answerOf(answers: Answers, { pathname, searchParams: query }: URL, { method }: IncomingMessage): object | null {
  const [, , kind, id = '', , turn = '', what = '', part = ''] = pathname.split('/').map(decodeURIComponent);
  const number = Number(turn);
  if (kind === 'about') return { version: '0.0.0', store: 'mock.db', log: null, approve: false, now: NOW, ...answers.about };
  if (kind === 'log') return answers.log?.() ?? null;
  if (kind === 'series') return answers.series?.() ?? null;
  if (what === 'try' && method === 'POST') return answers.tryOut?.() ?? null;
  if (pathname.endsWith('/complete') && method === 'POST') return { sid: id, calls: [] };
  if (kind !== 'sessions' || method !== 'GET') return null;
  if (id === '') return answers.sessions?.(query) ?? null;
  if (pathname.endsWith('/turns')) {
    const limit = Number(query.get('limit') ?? 200);
    const turns = answers.turns?.(id, Number(query.get('after') ?? 0), limit) ?? [];
    return { turns, damaged: [], changed: [], next: turns.length < limit ? null : (turns.at(-1)?.turn ?? null) };
  }
  if (turn === '') {
    const view = answers.session?.(id) ?? null;
    const first = answers.turns?.(id, 0, 200) ?? [];
    const damaged = (answers.damaged ?? []).map((each) => ({ turn: each, problem: `turn ${each} is not JSON` }));
    return (
      view && {
        ...view,
        timeline: { turns: first, damaged, changed: view.timeline.changed, next: view.turns > 200 ? 200 : null },
      }
    );
  }
  if (what === 'calls') return answers.calls?.(Number(query.get('after') ?? 0)) ?? null;
  if (what === 'parts') return answers.piece?.(part, Number(query.get('from') ?? 0)) ?? null;
  if (what === 'heat') return answers.heat?.(id, number) ?? null;
  if (what === 'steps') return answers.steps?.(query) ?? null;
  return answers.turn?.(id, number) ?? null;
}
