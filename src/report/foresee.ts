import { argumentsText } from '../wire/foreseen.ts';
import type { Preview, PreviewBound, PreviewCall } from '../wire/preview.ts';
import { counted } from './layout.ts';
import type { Palette } from './palette.ts';
import { printable } from './text.ts';
import { quantity } from './units.ts';

/** A preview as lines for the person who decides. */
export function explainPreview(preview: Preview, palette: Palette): readonly string[] {
  const { calls, because } = preview;
  const denied = calls.filter(({ verdict }) => verdict?.allowed === false).length;
  const names = preview.sources.map(({ name }) => printable(name)).join(', ');
  const head = `${names}: ${counted(calls.length, 'call')} foreseen${denied === 0 ? '' : `, ${denied} of them denied`}`;
  return [
    palette.bold(head),
    ...calls.flatMap((call) => callLines(call, palette)),
    `tool calls  ${boundText(preview.toolCalls, number)}`,
    `fuel        ${boundText(preview.fuel, number)}`,
    ...(because === null
      ? []
      : [palette.dim(`            ${printable(`${because.message} (${because.file}:${because.line})`)}`)]),
    `memory      ${boundText(preview.memoryBytes, bytes)}`,
    `output      ${boundText(preview.outputBytes, bytes)}`,
    `scratchpad  ${boundText(preview.scratchBytes, bytes)}`,
  ];
}

function callLines(call: PreviewCall, palette: Palette): readonly string[] {
  const place = `${call.file}:${call.line}${call.elsewhere ? ' and other places' : ''}`;
  const effects = call.effects === null ? '' : `, effects: ${call.effects}`;
  return [
    `${String(call.number).padStart(3)}  ${printable(`${call.name}${argumentsText(call.args)}`)}`,
    palette.dim(`     ${printable(`${timesText(call)}, at ${place}${effects}`)}`),
    ...call.when.map(({ kind, text, line }) => palette.dim(`     ${printable(`${WHEN[kind]} ${text} (line ${line})`)}`)),
    ...verdictLines(call, palette),
  ];
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

function timesText({ most, limitedBy }: PreviewCall): string {
  if (most === null) return 'any number of times';
  if (limitedBy !== null) return `any number of times, at most ${number(most)} by the limit ${limitedBy}`;
  return most === 1 ? 'at most once' : `at most ${number(most)} times`;
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

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function bytes(value: number): string {
  return quantity('bytes', value);
}
