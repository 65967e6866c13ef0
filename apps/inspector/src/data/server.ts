import type { ChangeView, FailureView } from '../../../../src/ui/views.ts';
import { encoded } from '../route.ts';
import { type Source, SourceError } from './source.ts';

/** The server that served the page. */
export function serverSource(): Source {
  const session = (sid: string) => `api/sessions/${encoded(sid)}`;
  const turn = (sid: string, number: number) => `${session(sid)}/turns/${number}`;
  return {
    live: true,
    about: () => get('api/about', {}),
    sessions: (query) => get('api/sessions', { ...query }),
    session: (sid) => get(session(sid), {}),
    turns: (sid, after, limit) => get(`${session(sid)}/turns`, { after, limit }),
    turn: (sid, number) => get(turn(sid, number), {}),
    calls: (sid, number, after) => get(`${turn(sid, number)}/calls`, { after }),
    piece: (sid, number, part, from) => get(`${turn(sid, number)}/parts/${encoded(part)}`, { from }),
    heat: (sid, number) => get(`${turn(sid, number)}/heat`, {}),
    step: (sid, number, place) => get(`${turn(sid, number)}/steps`, { ...place }),
    replay: (sid, number) => post(`${turn(sid, number)}/replay`, {}),
    tryOut: (sid, number, request) => post(`${turn(sid, number)}/try`, request),
    cancel: (sid) => post(`${session(sid)}/cancel`, {}),
    complete: (sid, request) => post(`${session(sid)}/complete`, request),
    log: (after) => get('api/log', { after }),
    series: (since) => get('api/series', { since }),
    watch,
  };
}

type Query = Readonly<Record<string, string | number | null | undefined>>;

function get<Answer>(path: string, query: Query): Promise<Answer> {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(pairs).toString();
  return answerOf(fetch(search === '' ? path : `${path}?${search}`));
}

function post<Answer>(path: string, body: object): Promise<Answer> {
  return answerOf(fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }));
}

/** The answer of the server that built this page, whose types are those of the page. */
async function answerOf<Answer>(request: Promise<Response>): Promise<Answer> {
  const response = await request.catch(() => {
    throw new SourceError('ERR_UNREACHABLE', 'the server does not answer; is `neuroscript ui` still running?');
  });
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && body !== null) return body as Answer;
  const { code, message } = isFailure(body) ? body.error : { code: String(response.status), message: response.statusText };
  throw new SourceError(code, message);
}

function isFailure(body: unknown): body is FailureView {
  return typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'object' && body.error !== null;
}

/**
 * The browser connects again by itself. Changes before a connection are unknown, also before the first one, because a view requests its
 * data meanwhile. So everything is fetched again.
 */
function watch(sid: string | null, listener: (change: ChangeView) => void): () => void {
  const events = new EventSource(sid === null ? 'api/events' : `api/events?sid=${encoded(sid)}`);
  events.onopen = () => {
    for (const kind of ['sessions', 'log'] as const) listener({ kind });
  };
  events.onmessage = ({ data }: MessageEvent<string>) => listener(JSON.parse(data) as ChangeView);
  return () => events.close();
}
