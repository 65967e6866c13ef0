import { counted, excerpt, grouped, type Palette, printable } from '../../report/index.ts';
import type { ShownVariable, Step, StepFork, TurnStep } from '../../wire/heat.ts';
import type { Source } from '../../wire/protocol.ts';

/** A moment of a turn as lines for a terminal: the statement about to be executed, and each fork with its variables. */
export function stepLines({ steps, visits }: TurnStep, step: Step, sources: readonly Source[], palette: Palette): string[] {
  const { source, line, column, visit, fuel, stack, more } = step;
  const place = palette.bold(`${printable(source)}:${line}:${column}`);
  const text = sources.find(({ name }) => name === source)?.text;
  return [
    `${place}  before step ${grouped(step.step)} of ${grouped(steps)}, visit ${grouped(visit)} of ${grouped(visits)}, ${grouped(fuel)} fuel spent`,
    ...excerpt(text, line, column, column, palette),
    ...stack.flatMap((fork) => forkLines(fork, palette)),
    ...(more === 0 ? [] : [palette.dim(`… ${counted(more, 'outer fork')} more`)]),
  ];
}

function forkLines({ name, source, line, variables, more }: StepFork, palette: Palette): string[] {
  return [
    `in ${printable(name)} ${palette.dim(`(${printable(source)}:${line})`)}`,
    ...(variables.length === 0 && more === 0 ? [palette.dim('  no variables')] : []),
    ...variables.map((variable) => `  ${printable(variable.name)} = ${valueText(variable)}`),
    ...(more === 0 ? [] : [palette.dim(`  … ${counted(more, 'variable')} more`)]),
  ];
}

const PARTS: ReadonlyMap<string, string> = new Map([
  ['string', 'character'],
  ['list', 'item'],
  ['map', 'key'],
]);

/** Texts are in quotes, so that `"1"` and `1` differ. */
function valueText({ type, text, cut, size }: ShownVariable): string {
  const shown = type === 'string' ? JSON.stringify(text) : text;
  if (!cut) return printable(shown);
  const whole = size === null ? '' : `: ${counted(size, PARTS.get(type) ?? 'part')} in all`;
  return `${printable(type === 'string' ? shown.slice(0, -1) : shown)}… (cut${whole})`;
}
