import { useEffect, useState } from 'preact/hooks';
import type { SessionsQuery } from '../../../src/ui/views.ts';

/** The parts of a turn's view. */
export const TURN_PARTS = [
  'overview',
  'program',
  'calls',
  'output',
  'tokens',
  'envelope',
  'changes',
  'flames',
  'steps',
  'trial',
] as const;
export type TurnPart = (typeof TURN_PARTS)[number];

/** One side of a comparison: a session, one of its turns, or one attempt at that turn. */
export interface Side {
  readonly sid: string;
  /** Null for the whole session. */
  readonly turn: number | null;
  /** Null for the attempt that decided the turn. */
  readonly attempt: number | null;
}

/** What the page shows, as its address says it. */
export type Route =
  | { readonly view: 'sessions'; readonly query: SessionsQuery }
  | { readonly view: 'session'; readonly sid: string }
  | { readonly view: 'turn'; readonly sid: string; readonly turn: number; readonly part: TurnPart; readonly at: string | null }
  | { readonly view: 'compare'; readonly left: Side; readonly right: Side }
  | { readonly view: 'log' }
  | { readonly view: 'series' };

/** Reads a fragment such as `#/s/SID/t/3/calls`; an unknown one is the list of sessions. */
export function readRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?');
  const [kind, sid, , turn, part] = path.split('/').map(decoded);
  const values = new URLSearchParams(query);
  if (kind === 'log') return { view: 'log' };
  if (kind === 'series') return { view: 'series' };
  const [left, right] = path.split('/').slice(1).map(readSide);
  if (kind === 'compare' && left !== undefined && right !== undefined) return { view: 'compare', left, right };
  if (kind === 's' && sid !== undefined && isTurn(turn))
    return {
      view: 'turn',
      sid,
      turn: Number(turn),
      part: TURN_PARTS.find((name) => name === part) ?? 'overview',
      at: values.get('at'),
    };
  if (kind === 's' && sid !== undefined) return { view: 'session', sid };
  return {
    view: 'sessions',
    query: { q: values.get('q') ?? '' },
  };
}

const isTurn = (text: string | undefined): text is string => text !== undefined && /^\d+$/.test(text);

/** Reads one side of a comparison: `SID`, `SID:TURN` or `SID:TURN:ATTEMPT`. */
function readSide(text: string): Side {
  const [sid = '', turn, attempt] = text.split(':').map(decoded);
  if (!isTurn(turn)) return { sid, turn: null, attempt: null };
  return { sid, turn: Number(turn), attempt: isTurn(attempt) ? Number(attempt) : null };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const sessionsLink = ({ q = '' }: SessionsQuery = {}): string => (q === '' ? '#/' : `#/?${new URLSearchParams({ q })}`);

/** Encodes one part of an address. A foreign text may have half a character, which `encodeURIComponent` refuses. */
export const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

export const sessionLink = (sid: string): string => `#/s/${encoded(sid)}`;

export const turnLink = (sid: string, turn: number, part: TurnPart = 'overview', at: string | null = null): string =>
  `${sessionLink(sid)}/t/${turn}${part === 'overview' ? '' : `/${part}`}${at === null ? '' : `?at=${encoded(at)}`}`;

/** Two sessions, turns or attempts side by side. */
export const compareLink = (left: Side, right: Side): string => `#/compare/${sideText(left)}/${sideText(right)}`;

const sideText = ({ sid, turn, attempt }: Side): string =>
  [encoded(sid), ...[turn, attempt].filter((each) => each !== null)].join(':');

/** A side of a comparison. */
export const sideOf = (sid: string, turn: number | null = null, attempt: number | null = null): Side => ({ sid, turn, attempt });

/** The current route; follows the address. */
export function useRoute(): Route {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const follow = () => setFragment(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return readRoute(fragment);
}
