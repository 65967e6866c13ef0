import { useEffect, useRef, useState } from 'preact/hooks';
import { printable } from '../../../src/wire/text/printable.ts';
import type { Source } from './data/source.ts';
import { useAnswer, WorldProvider } from './data/use.ts';
import { Palette } from './palette.tsx';
import { Foreign } from './parts/text.tsx';
import { type Route, sessionLink, useRoute } from './route.ts';
import { Shortcuts } from './shortcuts.tsx';
import { Compare, sideName } from './views/compare.tsx';
import { Log } from './views/log.tsx';
import { Series } from './views/series.tsx';
import { Session } from './views/session.tsx';
import { Sessions } from './views/sessions.tsx';
import { Turn } from './views/turn.tsx';

interface AppProps {
  readonly source: Source;
  /** The session of a page that has only one. */
  readonly only: string | null;
}

/** The page: header, the view that the address names, and a line for what just happened. */
export function App({ source, only }: AppProps) {
  const { value: about, problem } = useAnswer(() => source.about(), []);
  const asked = useRoute();
  const route: Route =
    only !== null && asked.view !== 'turn' && asked.view !== 'session' && asked.view !== 'compare'
      ? { view: 'session', sid: only }
      : asked;
  const [said, setSaid] = useState('');
  const main = useRef<HTMLElement>(null);
  const place = placeOf(route);
  const first = useRef(true);
  useEffect(() => {
    document.title = `${printable(titleOf(route))} – NeuroScript inspector`;
    setSaid('');
    // A reader by keyboard or ear goes on where the new view begins.
    if (!first.current) main.current?.focus({ preventScroll: true });
    if (!first.current) scrollTo(0, 0);
    first.current = false;
  }, [place]);
  const nav = [
    ['sessions', 'Sessions', '#/'],
    ['log', 'Log', '#/log'],
    ['series', 'Over time', '#/series'],
  ] as const;
  return (
    <WorldProvider value={{ source, about, say: setSaid }}>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to the content
      </button>
      <header>
        <span class="name">NeuroScript</span>
        <nav aria-label="Views">
          {only === null ? (
            nav.map(([view, title, href]) => (
              <a key={view} id={`nav-${view}`} href={href} {...(route.view === view ? { 'aria-current': 'page' as const } : {})}>
                {title}
              </a>
            ))
          ) : (
            <a href={sessionLink(only)}>Session</a>
          )}
        </nav>
        <Palette />
        <Shortcuts />
      </header>
      <main id="main" ref={main} tabIndex={-1}>
        <View route={route} />
      </main>
      <footer>
        <span role="status" id="said">
          <Foreign text={said} />
          {problem !== null && (
            <span class="problem">
              <Foreign text={problem} />
            </span>
          )}
        </span>
        <span class="faint">
          {about !== null && `version ${about.version}`}
          {!source.live && ', a file without a server'}
          {about?.approve && ', waiting calls can be answered here'}
        </span>
      </footer>
    </WorldProvider>
  );
}

function View({ route }: { readonly route: Route }) {
  switch (route.view) {
    case 'sessions':
      return <Sessions query={route.query} />;
    case 'session':
      return <Session key={route.sid} sid={route.sid} />;
    case 'turn':
      return <Turn key={`${route.sid} ${route.turn}`} sid={route.sid} turn={route.turn} part={route.part} at={route.at} />;
    case 'compare':
      return <Compare left={route.left} right={route.right} />;
    case 'log':
      return <Log />;
    case 'series':
      return <Series />;
  }
}

/** Equal for two routes between which the focus stays where it is. */
function placeOf(route: Route): string {
  if (route.view === 'turn') return `turn ${route.sid} ${route.turn}`;
  if (route.view === 'compare') return `compare ${JSON.stringify([route.left, route.right])}`;
  return route.view === 'session' ? `session ${route.sid}` : route.view;
}

function titleOf(route: Route): string {
  switch (route.view) {
    case 'sessions':
      return 'Sessions';
    case 'session':
      return `Session ${route.sid}`;
    case 'turn':
      return `Turn ${route.turn} of ${route.sid}`;
    case 'compare':
      return `${sideName(route.left)} and ${sideName(route.right)}`;
    case 'log':
      return 'Decision log';
    case 'series':
      return 'Over time';
  }
}
