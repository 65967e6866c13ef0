import type { ErrorView } from '../../../../src/ui/views.ts';
import { Lines } from './scroll.tsx';
import { lines } from './text.tsx';

/** Whether a line is one of the program with carets below it, or these: broken, they would not stand below what they mark. */
const isMarked = (all: readonly string[], index: number): boolean =>
  [all[index], all[index + 1]].some((line = '') => line.includes('^') && line.replaceAll('^', '').trim() === '');

/** An error with its excerpt of the program, as on the terminal. */
export function ErrorText({ failure, label }: { readonly failure: ErrorView; readonly label: string }) {
  return (
    <Lines class="error" label={label}>
      {failure.lines.map((line, index) => (
        <span key={index} class={isMarked(failure.lines, index) ? 'excerpt' : ''}>
          {lines(`${line}\n`)}
        </span>
      ))}
    </Lines>
  );
}
