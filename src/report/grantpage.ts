import { type Grant, mayChange } from '../tools/index.ts';
import { type GrantRow, grantHead, grantNotes, grantRows, type UsualByCall } from './grant.ts';
import { foreign, PAGE_END, pageHead } from './html.ts';

const STYLE = `
h1{overflow-wrap:anywhere;font-size:1.3rem}
li{margin:.5rem 0;overflow-wrap:anywhere}
ul{margin:0;padding-left:1.2rem}
ul ul li{margin:0}
.new{border-left:4px solid #c00;padding-left:.6rem}
.narrower{border-left:4px solid #b80;padding-left:.6rem}
details{margin:1rem 0}
`;

const MARK = { new: 'NEW: ', narrower: 'narrower: ', same: 'as before: ' } as const;

/**
 * A grant as one page for the person who approves it: what may change something is on the first screen, and what only reads can be opened.
 * With an earlier grant, changes are marked and come first. The page opens without server, network or script, and everything foreign is text.
 */
export function* grantPage(grant: Grant, since: Grant | null = null, usual?: UsualByCall): Generator<string> {
  const rows = grantRows(grant, since, usual);
  const changing = rows.filter(({ call, change }) => mayChange(call) || change === 'new');
  const others = rows.filter((row) => !changing.includes(row));
  yield pageHead(grantHead(grant), STYLE);
  yield `<p>No other call may be made. ${since === null ? '' : 'Marked is what the earlier grant does not have. '}Approve it, or narrow its file first: remove
calls, lower their numbers, narrow their arguments.</p>\n`;
  yield changing.length === 0
    ? '<p><strong>Nothing can be changed.</strong></p>\n'
    : `<ul>\n${changing.map(item).join('')}</ul>\n`;
  const notes = grantNotes(grant);
  if (notes.length > 0) yield `<ul>\n${notes.map((note) => `<li>${foreign(note)}</li>\n`).join('')}</ul>\n`;
  if (others.length > 0)
    yield `<details><summary>Calls that change nothing: ${others.length}</summary>\n<ul>\n${others.map(item).join('')}</ul>\n</details>\n`;
  yield PAGE_END;
}

function item({ change, title, terms, cost, notes }: GrantRow): string {
  const mark = change === null ? '' : `<strong>${MARK[change]}</strong>`;
  const below = [...(cost === '' ? [] : [cost]), ...notes].map((note) => `<li>${foreign(note)}</li>`).join('');
  return `<li class="${change ?? 'call'}">${mark}<strong>${foreign(title)}</strong>: ${foreign(terms)}${below === '' ? '' : `<ul>${below}</ul>`}</li>\n`;
}
