import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { TextView } from '../../../../src/ui/views.ts';
import { printable, UNSEEN, UNSEEN_IN_LINES } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { grouped } from '../format.ts';
import { Lines } from './scroll.tsx';

function seen(text: string, unseen: RegExp): ComponentChildren {
  if (!unseen.test(text)) return text;
  return text.split(unseen).map((piece, index) =>
    index % 2 === 0 ? (
      piece
    ) : (
      <span class="escape" key={index}>
        {printable(piece)}
      </span>
    ),
  );
}

/** One line of foreign text. Control, format and invisible characters, and blanks that are no spaces, are written as escapes. */
export function Foreign({ text, most = 2000 }: { readonly text: string; readonly most?: number }) {
  const shown = text.length > most ? `${text.slice(0, most).toWellFormed()}…` : text;
  return <bdi class="foreign">{seen(shown, UNSEEN)}</bdi>;
}

/** Whether a text of several lines has characters that a page would obey, hide or show as nothing. */
export const hasUnseen = (text: string): boolean => UNSEEN_IN_LINES.test(text);

/** Foreign text of several lines, as it stands. */
export function lines(text: string): ComponentChildren {
  return seen(text, UNSEEN_IN_LINES);
}

/** Most characters that a text shows before the reader asks for more, and that each asking adds. */
const SHOWN = 20_000;

interface ShowMoreProps {
  readonly shown: number;
  readonly of: number;
  readonly things: string;
  readonly problem: string | null;
  /** Brings the next part; null where it cannot be had. */
  readonly extend: (() => Promise<void>) | null;
}

/** How much of a long thing is shown, and the button that brings more. */
export function ShowMore({ shown, of, things, problem, extend }: ShowMoreProps) {
  return (
    <p class="rest">
      {grouped(shown)} of {grouped(of)} {things}{' '}
      {extend !== null && (
        <button type="button" onClick={() => void extend()}>
          Show more
        </button>
      )}
      {problem !== null && (
        <span class="problem">
          <Foreign text={problem} />
        </span>
      )}
    </p>
  );
}

interface LongTextProps {
  readonly view: TextView;
  readonly label: string;
  /** The turn from which the server has the rest of a text that is cut. */
  readonly of?: { readonly sid: string; readonly turn: number } | undefined;
}

/** A foreign text of any length. A long one starts with its first part, and a button brings the next. */
export function LongText({ view, label, of }: LongTextProps) {
  const { source } = useWorld();
  const [more, setMore] = useState('');
  const [shown, setShown] = useState(SHOWN);
  const [problem, setProblem] = useState<string | null>(null);
  const have = view.text + more;
  const missing = view.part !== null && of !== undefined && have.length < view.length;
  const extend = async () => {
    if (have.length <= shown && missing && view.part !== null) {
      try {
        const piece = await source.piece(of.sid, of.turn, view.part, have.length);
        setMore(more + piece.text);
      } catch (error) {
        setProblem(messageOf(error));
        return;
      }
    }
    setShown(shown + SHOWN);
  };
  if (view.length === 0) return <p class="none">empty</p>;
  const visible = have.slice(0, shown);
  return (
    <div class="text">
      <Lines label={label}>{lines(visible.toWellFormed())}</Lines>
      {visible.length < view.length && (
        <ShowMore
          shown={visible.length}
          of={view.length}
          things="characters"
          problem={problem}
          extend={visible.length < have.length || missing ? extend : null}
        />
      )}
    </div>
  );
}

/** JSON or another short foreign text on one line; a longer one unfolds. */
export function Value({ view, label, of }: LongTextProps) {
  if (view.length <= 160) {
    return (
      <code>
        <Foreign text={view.text} />
      </code>
    );
  }
  return (
    <details class="value">
      <summary>
        <code>
          <Foreign text={view.text} most={120} />
        </code>{' '}
        <span class="faint">{grouped(view.length)} characters</span>
      </summary>
      <LongText view={view} label={label} of={of} />
    </details>
  );
}
