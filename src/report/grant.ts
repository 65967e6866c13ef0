import { type CallChange, changesSince, type Grant, type GrantedCall, grantedText, mayChange } from '../tools/index.ts';
import { usdText } from '../wire/money.ts';
import type { UsualCost } from '../wire/preview.ts';
import type { Palette } from '../wire/text/palette.ts';
import { printable } from '../wire/text/printable.ts';
import { counted } from '../wire/text/units.ts';
import { boundText, costText } from './foresee.ts';
import { paragraph } from './layout.ts';

/** The programs of a grant, and how much they may do. */
export function grantHead({ programs, calls }: Grant): string {
  const names = programs.map(({ name }) => name).join(', ');
  const changing = calls.filter(mayChange).length;
  return `${names}: ${counted(calls.length, 'call')}, ${changing} of which may change something`;
}

/** A granted call for a reader. */
export interface GrantRow {
  readonly call: GrantedCall;
  /** The change since an earlier grant; null without one. */
  readonly change: CallChange | null;
  /** The tool, and what it does. */
  readonly title: string;
  /** Arguments and number. */
  readonly terms: string;
  /** What the calls cost; empty without a price and a past. */
  readonly cost: string;
  /** What is unknown, labels, and the place. */
  readonly notes: readonly string[];
}

/** What one call usually costs, by the number of the call in its grant. */
export type UsualByCall = ReadonlyMap<number, UsualCost>;

const NO_PAST: UsualByCall = new Map();

/** The calls of a grant in the order of a reader: what changed and what may change something first. */
export function grantRows(grant: Grant, since: Grant | null, usual = NO_PAST): readonly GrantRow[] {
  const changes = since === null ? null : changesSince(grant, since);
  const rows = grant.calls.map((call): GrantRow => {
    const { number, tool, effects, unknown = [], carries = {}, at } = call;
    return {
      call,
      change: changes?.get(number) ?? null,
      title: `call ${number}: ${tool} (${EFFECTS[effects ?? 'unknown']})`,
      terms: grantedText(call),
      cost: costText({ cost: call.cost, usually: usual.get(number) }),
      notes: [
        ...unknown.map((each) => `unknown: ${each}`),
        ...Object.entries(carries).map(([argument, labels]) => `${argument} may carry ${labels.join(', ')}`),
        ...(at === undefined ? [] : [`at ${at}`]),
      ],
    };
  });
  const rank = ({ call, change }: GrantRow): number => (change === 'new' ? 0 : 2) + (mayChange(call) ? 0 : 1);
  return rows.toSorted((a, b) => rank(a) - rank(b));
}

const EFFECTS = { none: 'no effect', read: 'reads', write: 'may change something', unknown: 'outside of any tool' } as const;

/** What a grant costs, the rules about its calls, and what is unknown of the whole, each as a sentence. */
export function grantNotes({ cost, order = [], unknown = [] }: Grant): readonly string[] {
  return [
    ...(cost === undefined ? [] : [`all of it costs ${boundText(cost, usdText)}`]),
    ...order.map(({ tool, needs, 'not-after': notAfter }) =>
      needs === undefined ? `${tool} not after ${notAfter}` : `${tool} only after ${needs}`,
    ),
    ...unknown.map((each) => `unknown: ${each}`),
  ];
}

/** A grant as lines for the person who decides. With an earlier grant, changes are marked; `usual` has what calls usually cost. */
export function explainGrant(grant: Grant, palette: Palette, since: Grant | null = null, usual = NO_PAST): readonly string[] {
  const gone = since === null ? 0 : since.calls.filter(({ tool }) => !grant.calls.some((call) => call.tool === tool)).length;
  return [
    ...paragraph(printable(grantHead(grant)), palette).map(palette.bold),
    ...grantRows(grant, since, usual).flatMap(({ change, title, terms, cost, notes }) => [
      ...titleLines(change, `${title}: ${terms}`, palette),
      ...(cost === '' ? [] : paragraph(cost, palette, UNDER)),
      ...notes.flatMap((note) => paragraph(printable(note), palette, UNDER).map(palette.dim)),
    ]),
    ...grantNotes(grant).flatMap((note) => paragraph(printable(note), palette, '  ')),
    ...(gone === 0
      ? []
      : paragraph(`${counted(gone, 'call')} of the earlier grant, of other tools, not in this one`, palette, '  ').map(
          palette.dim,
        )),
  ];
}

/** Before the lines below a call. */
const UNDER = ' '.repeat(5);

const MARKS = { new: ['NEW', 'red'], narrower: ['narrower', 'yellow'], same: ['as before', 'dim'] } as const;

function titleLines(change: CallChange | null, text: string, palette: Palette): readonly string[] {
  const [mark, style] = change === null ? (['', 'dim'] as const) : MARKS[change];
  const [first = '', ...rest] = paragraph(printable(text), palette, mark === '' ? '  ' : `  ${mark} `, UNDER);
  return [first.replace(mark, palette[style]), ...rest];
}
