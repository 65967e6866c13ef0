import type { ListQuery, SessionStore, SessionSummary } from './store.ts';

/** Sessions of a list at a time. */
const PAGE = 500;

/** All sessions of a list, in the order of their ids. Reads them page by page, so that a store of any size takes little memory. */
export async function* allSessions(
  store: Pick<SessionStore, 'list'>,
  { after, ...query }: Pick<ListQuery, 'after' | 'parent'> = {},
): AsyncGenerator<SessionSummary> {
  for (let from = after; ; ) {
    const page = await store.list({ ...query, after: from, limit: PAGE });
    yield* page;
    from = page.at(-1)?.sid;
    if (page.length < PAGE) return;
  }
}
