/** The blocks of a program, and the words that end them in any common language. */
import type { BlockKind, Head } from './heads.ts';
import type { Piece } from './pieces.ts';

export interface Block {
  readonly kind: BlockKind;
  readonly style: Head['style'];
  readonly group: number;
  readonly indent: string;
  readonly width: number;
  readonly head: Piece;
  readonly subject: string | null;
  readonly caught: readonly string[];
  /** Place of its first change. */
  readonly from: number;
  /** Number of further `if` blocks that its chain has opened. */
  extra: number;
  /** Number of cases of a `switch` that have begun. */
  cases: number;
  /** Whether a statement leaves it in a way that NeuroScript lacks. */
  doubtful: boolean;
  /** Tests of the cases before the next one that have no statements of their own. */
  readonly shared: string[];
  /** The heads of the further parts of a `try`: `else`, `finally`. */
  readonly sections: Piece[];
  /** The head of its handler. */
  handler: Piece | null;
}

/** The end keyword of each kind of block. */
export const ENDS: Readonly<Record<BlockKind, string>> = {
  if: 'endif',
  while: 'endwhile',
  for: 'endfor',
  func: 'endfunc',
  command: 'endcommand',
  on: 'endon',
  together: 'endtogether',
  try: 'endon',
  switch: 'endif',
  repeat: 'endwhile',
};

/** Words that end a block, with the kinds of block that each ends; an empty list means any kind. */
export const CLOSERS: Readonly<Record<string, readonly BlockKind[]>> = {
  ...Object.fromEntries(
    Object.entries(ENDS).map(([kind, end]) => [
      end,
      Object.keys(ENDS).flatMap((one) => (one === kind && isKind(one) ? [one] : [])),
    ]),
  ),
  endon: ['on'],
  endif: ['if'],
  endwhile: ['while', 'repeat'],
  fi: ['if'],
  done: ['for', 'while'],
  esac: ['switch'],
  wend: ['while'],
  next: ['for'],
  endforeach: ['for'],
  endfunction: ['func'],
  enddef: ['func'],
  endtry: ['try'],
  enderror: ['on'],
  endparallel: ['together'],
  endswitch: ['switch'],
  endcase: ['switch'],
  end: [],
  '}': [],
};

export function isKind(text: string): text is BlockKind {
  return text in ENDS;
}

/** The lines that end a block, with those of the `if` blocks that its chain has opened. */
export function endLines({ kind, extra, cases }: Block): readonly string[] {
  if (kind === 'switch' && cases === 0) return [];
  return [ENDS[kind], ...Array<string>(extra).fill('endif')];
}

/** Begin a further part of a block. */
export const MIDDLES = /^(?:else|elif|elsif|elseif|except|catch|rescue|finally|ensure)$/;

/**
 * Where the indented body of a block without an end stops before the statement at an index; undefined where no indentation shows it.
 * `widthAt` gives the indentation of a place.
 */
export function bodyEnd(
  { style, head, width, kind }: Block,
  pieces: readonly Piece[],
  index: number,
  widthAt: (at: number) => number,
): number | undefined {
  if (style !== 'word' || kind === 'command') return undefined;
  let end: number | undefined;
  for (let at = index - 1; at > 0; at--) {
    const [piece, before] = [pieces[at], pieces[at - 1]];
    if (piece === undefined || before === undefined || piece.s <= head.s) break;
    if (piece.follows || widthAt(piece.s) > width || MIDDLES.test(piece.words[0]?.text ?? '')) continue;
    end = before === head ? undefined : before.e;
  }
  return end;
}
