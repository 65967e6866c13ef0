import { shellWord } from '../../../../src/wire/text/commandwords.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';

interface CopyProps {
  readonly text: string;
  /** What is copied, for readers by ear and for the line that says so. */
  readonly what: string;
}

/** Copies a text as it is. */
export function Copy({ text, what }: CopyProps) {
  const { say } = useWorld();
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      say(`copied ${what}`);
    } catch (error) {
      say(`not copied: ${messageOf(error)}`);
    }
  };
  return (
    <button type="button" class="quiet copy" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={() => void copy()}>
      copy
    </button>
  );
}

/** A command to paste into a terminal. */
export function CommandLine({ words, what }: { readonly words: readonly string[]; readonly what: string }) {
  const shown = words.map(shellWord);
  return (
    <p class="command">
      <code>
        {shown.map((word, index) => (
          <span key={index}>
            <span class="word">{printable(word)}</span>{' '}
          </span>
        ))}
      </code>
      <Copy text={shown.join(' ')} what={what} />
    </p>
  );
}
