import { argumentsText } from '../wire/foreseen.ts';
import { usdText } from '../wire/money.ts';
import type { Preview, PreviewBound, PreviewCall, PreviewCost } from '../wire/preview.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { Palette } from '../wire/text/palette.ts';
import { printable } from '../wire/text/printable.ts';
import { counted, quantity } from '../wire/text/units.ts';

/** A preview as lines for the person who decides. */
export function explainPreview(preview: Preview, palette: Palette): readonly string[] {
  const { calls, because } = preview;
  const bounds = boundRows(preview).map(([name, text]) => ({ name, line: `${name.padEnd(12)}${text}` }));
  const place = printable(because === null ? '' : `${because.message} (${because.file}:${because.line})`);
  return [
    palette.bold(printable(headText(preview))),
    ...calls.flatMap((call) => callLines(call, palette)),
    ...bounds.flatMap(({ name, line }) =>
      name === 'fuel' && because !== null ? [line, palette.dim(`            ${place}`)] : [line],
    ),
  ];
}

/** What a preview is about, and how many calls it has. */
export function headText({ sources, calls }: Preview): string {
  const denied = calls.filter(({ verdict }) => verdict?.allowed === false).length;
  const names = sources.map(({ name }) => name).join(', ');
  return `${names}: ${counted(calls.length, 'call')} foreseen${denied === 0 ? '' : `, ${denied} of them denied`}`;
}

/** What the run takes at most. */
export function boundRows(preview: Preview): readonly (readonly [name: string, text: string])[] {
  return [
    ['tool calls', boundText(preview.toolCalls, grouped)],
    ...(isFree(preview) ? [] : [['cost', costsText(preview.cost)] as const]),
    ['fuel', boundText(preview.fuel, grouped)],
    ['memory', boundText(preview.memoryBytes, bytes)],
    ['output', boundText(preview.outputBytes, bytes)],
    ['scratchpad', boundText(preview.scratchBytes, bytes)],
  ];
}

function callLines(call: PreviewCall, palette: Palette): readonly string[] {
  const effects = call.effects === null ? '' : `, effects: ${call.effects}`;
  const cost = costText(call);
  return [
    `${String(call.number).padStart(3)}  ${printable(`${call.name}${argumentsText(call.args)}`)}`,
    palette.dim(`     ${printable(`${timesText(call)}, at ${placeText(call)}${effects}${cost === '' ? '' : `, ${cost}`}`)}`),
    ...call.when.map((condition) => palette.dim(`     ${printable(conditionText(condition))}`)),
    ...(call.decidedBy === undefined ? [] : [palette.dim(`     ${decidedText(call.decidedBy)}`)]),
    ...verdictLines(call, palette),
  ];
}

export function placeText({ file, line, elsewhere }: PreviewCall): string {
  return `${file}:${line}${elsewhere ? ' and other places' : ''}`;
}

/** What a call does outside of the program. */
export function effectsText({ name, effects }: PreviewCall): string {
  return effects ?? (name.startsWith('tool.') ? 'unknown tool' : 'asks outside of the program');
}

export function conditionText({ kind, text, line }: PreviewCall['when'][number]): string {
  return `${WHEN[kind]} ${text} (line ${line})`;
}

const WHEN: Readonly<Record<PreviewCall['when'][number]['kind'], string>> = {
  if: 'if',
  unless: 'unless',
  while: 'while',
  each: 'for each item of',
  error: 'after an error, in the handler',
  event: 'when the event is delivered:',
  procedure: 'in the procedure',
};

/** Which results decide the way to a call, in words: other ones than those of a rehearsal may take another way. */
export function decidedText(calls: readonly number[]): string {
  return `decided by what ${calls.length === 1 ? 'call' : 'calls'} ${calls.join(', ')} returned`;
}

/** How often a call can be made. */
export function timesText({ most, limitedBy }: PreviewCall): string {
  if (most === null) return 'any number of times';
  if (limitedBy !== null) return `any number of times, at most ${grouped(most)} by the limit ${limitedBy}`;
  return most === 1 ? 'at most once' : `at most ${grouped(most)} times`;
}

/** What calls cost, in words; empty for a call without a price and without a past. */
export function costText({
  cost,
  usually,
}: Pick<PreviewCall, 'usually'> & { readonly cost?: Pick<PreviewCost, 'most'> | undefined }): string {
  const most = cost === undefined ? [] : [cost.most === null ? 'no bound but the limit' : `at most ${usdText(cost.most)}`];
  const usual = usually === undefined ? [] : [`usually ${usdText(usually.usd)} a call (median of ${grouped(usually.calls)})`];
  return most.length + usual.length === 0 ? '' : `cost: ${[...most, ...usual].join(', ')}`;
}

/** Whether no call of a preview has a price. */
function isFree({ calls, cost }: Preview): boolean {
  return cost.most === 0 || calls.every((call) => call.cost === undefined);
}

function costsText({ least, ...bound }: Preview['cost']): string {
  return `${boundText(bound, usdText)}${least === 0 ? '' : `, at least ${usdText(least)}`}`;
}

function verdictLines({ verdict }: PreviewCall, { green, red, yellow }: Palette): readonly string[] {
  if (verdict === null) return [];
  const { policy, reason, approval } = verdict;
  const word = { keeps: green('allowed'), may: yellow('MAY BREAK THE POLICY'), breaks: red('DENIED') }[policy];
  return [`     ${word}: ${printable(reason)}`, ...(approval ? [`     ${yellow('a human must approve each call')}`] : [])];
}

/** The most that a run takes, in words. */
export function boundText({ most, by }: PreviewBound, text: (value: number) => string): string {
  return `at most ${text(most)}${by === 'limit' ? ', by the limit of the run' : ''}`;
}

function bytes(value: number): string {
  const text = quantity('bytes', value);
  const count = Number.parseInt(text, 10);
  return `${grouped(count)} ${text.slice(String(count).length)}`;
}
