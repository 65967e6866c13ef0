import { argumentsText } from '../wire/foreseen.ts';
import type { Preview, PreviewBound, PreviewCall } from '../wire/preview.ts';
import { counted } from './layout.ts';
import type { Palette } from './palette.ts';
import { printable } from './text.ts';
import { grouped, quantity } from './units.ts';

/** A preview as lines for the person who decides. */
export function explainPreview(preview: Preview, palette: Palette): readonly string[] {
  const { calls, because } = preview;
  const [most = '', fuel = '', ...others] = boundRows(preview).map(([name, text]) => `${name.padEnd(12)}${text}`);
  return [
    palette.bold(printable(headText(preview))),
    ...calls.flatMap((call) => callLines(call, palette)),
    most,
    fuel,
    ...(because === null
      ? []
      : [palette.dim(`            ${printable(`${because.message} (${because.file}:${because.line})`)}`)]),
    ...others,
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
    ['fuel', boundText(preview.fuel, grouped)],
    ['memory', boundText(preview.memoryBytes, bytes)],
    ['output', boundText(preview.outputBytes, bytes)],
    ['scratchpad', boundText(preview.scratchBytes, bytes)],
  ];
}

function callLines(call: PreviewCall, palette: Palette): readonly string[] {
  const effects = call.effects === null ? '' : `, effects: ${call.effects}`;
  return [
    `${String(call.number).padStart(3)}  ${printable(`${call.name}${argumentsText(call.args)}`)}`,
    palette.dim(`     ${printable(`${timesText(call)}, at ${placeText(call)}${effects}`)}`),
    ...call.when.map((condition) => palette.dim(`     ${printable(conditionText(condition))}`)),
    ...verdictLines(call, palette),
  ];
}

/** Where a call stands. */
export function placeText({ file, line, elsewhere }: PreviewCall): string {
  return `${file}:${line}${elsewhere ? ' and other places' : ''}`;
}

/** What a call does outside of the program. */
export function effectsText({ name, effects }: PreviewCall): string {
  return effects ?? (name.startsWith('tool.') ? 'unknown tool' : 'asks outside of the program');
}

/** A condition of a call. */
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

/** How often a call can be made. */
export function timesText({ most, limitedBy }: PreviewCall): string {
  if (most === null) return 'any number of times';
  if (limitedBy !== null) return `any number of times, at most ${grouped(most)} by the limit ${limitedBy}`;
  return most === 1 ? 'at most once' : `at most ${grouped(most)} times`;
}

function verdictLines({ verdict }: PreviewCall, { green, red, yellow }: Palette): readonly string[] {
  if (verdict === null) return [];
  const { allowed, reason, approval } = verdict;
  const word = allowed ? green('allowed') : red('DENIED');
  return [`     ${word}: ${printable(reason)}`, ...(approval ? [`     ${yellow('a human must approve each call')}`] : [])];
}

function boundText({ most, by }: PreviewBound, text: (value: number) => string): string {
  return `at most ${text(most)}${by === 'limit' ? ', by the limit of the run' : ''}`;
}

function bytes(value: number): string {
  return quantity('bytes', value);
}
