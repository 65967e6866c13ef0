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

/** What the page shows, as its address says it. */
export type Route =
  | { readonly view: 'sessions'; readonly query: SessionsQuery }
  | { readonly view: 'session'; readonly sid: string }
  | { readonly view: 'turn'; readonly sid: string; readonly turn: number; readonly part: TurnPart; readonly at: string | null }
  | { readonly view: 'log' }
  | { readonly view: 'series' };

const FILTERS = ['search', 'decision', 'error', 'agent', 'subject', 'since', 'until'] as const;

/** Reads a fragment such as `#/s/SID/t/3/calls`; an unknown one is the list of sessions. */
export function readRoute(fragment: string): Route {
  const [path = '', query = ''] = fragment.replace(/^#\/?/, '').split('?');
  const [kind, sid, , turn, part] = path.split('/').map(decoded);
  const values = new URLSearchParams(query);
  if (kind === 'log') return { view: 'log' };
  if (kind === 'series') return { view: 'series' };
  if (kind === 's' && sid !== undefined && turn !== undefined && /^\d+$/.test(turn))
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
    query: Object.fromEntries(FILTERS.flatMap((name) => (values.get(name) ? [[name, values.get(name)]] : []))),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export const sessionsLink = (query: SessionsQuery = {}): string => {
  const pairs = FILTERS.flatMap((name) => (query[name] === undefined || query[name] === '' ? [] : [[name, query[name]]]));
  return pairs.length === 0 ? '#/' : `#/?${new URLSearchParams(pairs)}`;
};

/** Encodes one part of an address. A foreign text may have half a character, which `encodeURIComponent` refuses. */
export const encoded = (text: string): string => encodeURIComponent(text.toWellFormed());

export const sessionLink = (sid: string): string => `#/s/${encoded(sid)}`;

export const turnLink = (sid: string, turn: number, part: TurnPart = 'overview', at: string | null = null): string =>
  `${sessionLink(sid)}/t/${turn}${part === 'overview' ? '' : `/${part}`}${at === null ? '' : `?at=${encoded(at)}`}`;

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
