import type { ErrorView } from '../../../../src/ui/views.ts';
import { Lines } from './scroll.tsx';
import { lines } from './text.tsx';

/** An error with its excerpt of the program, as on the terminal. */
export function ErrorText({ failure, label }: { readonly failure: ErrorView; readonly label: string }) {
  return (
    <Lines class="error" label={label}>
      {lines(failure.lines.join('\n'))}
    </Lines>
  );
}
