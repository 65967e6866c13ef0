import type { SnapshotView } from '../../../../src/ui/views.ts';
import { type Source, SourceError } from './source.ts';

/** The snapshot that `sessions show --html` put into the page; null in a page that a server sent. */
export function embeddedSnapshot(): SnapshotView | null {
  const element = document.getElementById('snapshot');
  // The same package wrote it.
  return element === null ? null : (JSON.parse(element.textContent) as SnapshotView);
}

const absent = () => Promise.reject(new SourceError('ERR_SNAPSHOT', 'this file has no server; use `neuroscript ui` for this'));

/** One session without its server. */
export function snapshotSource({ about, session, turns }: SnapshotView): Source {
  return {
    live: false,
    about: () => Promise.resolve(about),
    sessions: () => Promise.resolve({ sessions: [session], next: null }),
    session: (sid) => (sid === session.sid ? Promise.resolve(session) : notHere(`the session ${sid}`)),
    turns: (_, after, limit) => {
      const rows = turns.filter(({ turn }) => turn > after);
      const next = rows.length > limit ? (rows[limit - 1]?.turn ?? null) : null;
      const page = rows.slice(0, limit);
      const changed = page.filter(({ record }) => record.seal === 'broken').map(({ turn }) => turn);
      return Promise.resolve({ turns: page, damaged: [], changed, next });
    },
    turn: (_, number) => {
      const found = turns.find(({ turn }) => turn === number);
      return found === undefined ? notHere(`turn ${number}`) : Promise.resolve(found);
    },
    calls: absent,
    piece: absent,
    heat: absent,
    step: absent,
    replay: absent,
    tryOut: absent,
    cancel: absent,
    complete: absent,
    log: absent,
    series: absent,
    watch: () => () => undefined,
  };
}

function notHere(what: string): Promise<never> {
  return Promise.reject(new SourceError('ERR_SNAPSHOT', `${what} is not in this file`));
}
