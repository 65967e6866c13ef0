import { expect, it } from 'vitest';
import { MemoryStore, type SessionStore, type TurnRecord } from '../../src/loop/index.ts';
import { errorView } from '../../src/ui/envelope.ts';
import type { SessionsView, SessionView } from '../../src/ui/views.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { drive, inspectorOf, PROGRAMS } from './kit.ts';

/** A store that gives one turn with another output than was recorded. */
function changedIn(store: MemoryStore, changed: number): SessionStore {
  const turns: SessionStore['turns'] = async (...query) =>
    (await store.turns(...query)).map(
      (record): TurnRecord => (record.turn === changed ? { ...record, output: 'all is well' } : record),
    );
  return new Proxy<SessionStore>(store, {
    get: (target, name) => {
      if (name === 'turns') return turns;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

it.each([
  [0, [], false],
  [1, [1], false],
  [2, [2], true],
] as const)(
  'issue 49: a record that was changed (turn %i) marks its session, and as the last one its row',
  async (turn, changed, inList) => {
    const store = new MemoryStore();
    await drive(store, { good: PROGRAMS['good'] ?? [] });
    await using inspector = inspectorOf(changedIn(store, turn));
    const ask = (...path: readonly string[]) =>
      inspector.read({ path, query: new URLSearchParams(), signal: new AbortController().signal });
    expect(((await ask('sessions', 'good')) as SessionView).timeline).toMatchObject({ turns: { length: 2 }, changed });
    expect(((await ask('sessions')) as SessionsView).sessions[0]?.last?.changed).toBe(inList);
  },
);

it('issue 49: a page shows an error that has no place by its message, as no command failed there', () => {
  const error: ErrorInfo = {
    ...{ kind: 'quota', code: 'ERR_QUOTA', nsCode: null, name: 'Quota', message: 'too much\u{7}' },
    ...{ source: null, line: null, column: null, stack: [], hint: 'use less' },
  };
  expect(errorView(error, null, []).lines).toEqual(['too much\\u{7} (ERR_QUOTA)', '  hint: use less']);
  expect(errorView({ ...error, source: 'ACTIONS', line: 2, column: 1 }, null, []).lines[0]).toBe(
    'ACTIONS:2:1: too much\\u{7} (ERR_QUOTA)',
  );
});
