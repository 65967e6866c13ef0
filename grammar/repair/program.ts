/** Translates a whole program statement by statement, and keeps its blocks. */
import { lastAtMost, lineTable } from '../syntax/position.ts';
import { apartIn } from './apart.ts';
import { applied, type Change } from './apply.ts';
import { type Block, bodyEnd, CLOSERS, ENDS, endLines, isKind, MIDDLES } from './blocks.ts';
import { caseIn, linesOfCase } from './cases.ts';
import { commentsIn } from './comments.ts';
import { condition } from './condition.ts';
import { type BlockKind, bodyAt, type Head, headOf } from './heads.ts';
import { Layout } from './layout.ts';
import { indentAt, type Word, wordsOf } from './lexer.ts';
import { isHead, isStatement, type Piece, piecesOf, same } from './pieces.ts';
import { renamingOf } from './reserved.ts';
import { leavesSwitch, noteLeaving, returned, skips } from './returns.ts';
import { Scope, Unclear } from './scope.ts';
import { simple } from './simple.ts';
import { guarded } from './tries.ts';

/** Begin the part of a `try` that runs in any case. */
const ENDING = new Set<string>(['finally', 'ensure']);

/** Twice the levels that a program may nest: some of the open blocks may close after all. */
const MOST_BLOCKS = 400;

/** What is known of a program beside its text. */
export interface Known {
  /** The tools of the host, by canonical name; empty where none is known. */
  readonly tools: ReadonlySet<string>;
  /** The lines that are valid, and have another meaning in other languages. They are read as in these. */
  readonly meant: ReadonlySet<number>;
}

const NOTHING: Known = { tools: new Set(), meant: new Set() };

/** The changes that make a program of other languages one of NeuroScript. */
export function changesOf(text: string, known: Known = NOTHING): readonly Change[] {
  const written = wordsOf(text);
  return [...commentsIn(text, written), ...apartIn(text, written), ...new Program(text, written, known).changes()];
}

class Program {
  readonly #text: string;
  readonly #pieces: readonly Piece[];
  readonly #starts: readonly number[];
  readonly #scope: Scope;
  readonly #changes: Change[] = [];
  readonly #blocks: Block[] = [];
  readonly #meant: ReadonlySet<number>;
  readonly #inserted = new Map<string, number>();
  #groups = 0;
  #last: Piece | null = null;
  #index = 0;
  #next = '';
  readonly #layout: Layout;
  constructor(text: string, written: readonly Word[], { tools, meant }: Known) {
    this.#meant = meant;
    const renamed = renamingOf(written);
    const words = renamed(written);
    this.#text = text;
    this.#layout = new Layout(text);
    this.#starts = lineTable(text).starts;
    this.#pieces = piecesOf(words);
    const script = words.some(({ kind, text }) => kind === 'name' && /^(?:const|let)$/.test(text));
    this.#scope = new Scope(words, script, renamed, tools);
  }

  changes(): readonly Change[] {
    for (const [index, piece] of this.#pieces.entries()) {
      this.#index = index;
      this.#next = this.#pieces[index + 1]?.words[0]?.text ?? '';
      this.#dedent(piece);
      const [outer] = this.#blocks;
      this.#piece(piece);
      this.#layout.note(piece, outer ?? null, this.#blocks);
      this.#last = piece;
      // No change makes a program of it, because it nests deeper than the language allows. Every statement looks at all open blocks.
      if (this.#blocks.length > MOST_BLOCKS) return [];
    }
    this.#index = this.#pieces.length;
    for (;;) {
      const block = this.#blocks.at(-1);
      if (block === undefined) break;
      this.#insertEnd(block, this.#last?.e ?? this.#text.length);
    }
    this.#layout.arrange(this.#changes, this.#groups++);
    return this.#changes;
  }

  /** Ends the blocks whose indentation is over. */
  #dedent(piece: Piece): void {
    const word = piece.words[0]?.text ?? '';
    if (piece.follows) return;
    const width = indentAt(this.#text, this.#starts, piece.s).length;
    for (;;) {
      const block = this.#blocks.at(-1);
      if (block?.style !== 'colon' || width > block.width) return;
      const goesOn = width === block.width && (word in CLOSERS || MIDDLES.test(word));
      if (goesOn) return;
      this.#insertEnd(block, this.#last?.e ?? piece.s);
    }
  }

  #isMeant({ s, e }: Piece): boolean {
    if (this.#meant.size === 0) return false;
    const last = lastAtMost(this.#starts, e);
    for (let at = lastAtMost(this.#starts, s); at <= last; at++) if (this.#meant.has(at + 1)) return true;
    return false;
  }

  #piece(piece: Piece): void {
    this.#scope.filled = this.#isMeant(piece);
    [this.#scope.guessed, this.#scope.miscalls] = [false, false];
    this.#scope.caught = this.#blocks.flatMap(({ caught }) => caught);
    this.#scope.inside = this.#blocks.some(({ kind }) => kind === 'func');
    noteLeaving(this.#blocks, piece);
    try {
      if (this.#noise(piece) || this.#middle(piece) || this.#closer(piece) || this.#open(piece)) return;
      const lines =
        returned(this.#text, piece, { blocks: this.#blocks, next: this.#next, scope: this.#scope }) ??
        simple(this.#text, piece.words, this.#scope);
      this.#replace(piece, leavesSwitch(this.#blocks, piece) ? [] : lines, this.#groups++);
    } catch (error) {
      if (!(error instanceof Unclear)) throw error;
      this.#block(piece);
    }
  }

  /** A head that could not be read still opens its block. */
  #block(piece: Piece): void {
    const kind = piece.words[0]?.text;
    if (kind !== undefined && isKind(kind) && kind !== 'try' && kind !== 'switch')
      this.#push(kind, 'word', piece, this.#groups++, null, []);
  }

  /** `then` and `do` of the shell on their own, a `#!` line, `set -e`. */
  #noise(piece: Piece): boolean {
    const [first, ...rest] = piece.words;
    if (/^(?:<\?php|\?>)$/.test(this.#text.slice(piece.s, piece.e))) {
      this.#replace(piece, [], this.#groups++);
      return true;
    }
    if (first?.text !== 'then' && first?.text !== 'do') return false;
    const block = this.#blocks.at(-1);
    const chained = /^(?:else|elif|elsif|elseif)$/.test(this.#last?.words[0]?.text ?? '');
    if (block === undefined || (this.#last !== block.head && !chained)) return false;
    if (rest.length === 0) this.#replace(piece, [], block.group);
    else this.#replace(piece, simple(this.#text, rest, this.#scope), block.group);
    return true;
  }

  #open(piece: Piece): boolean {
    if (this.#caseOf(piece) || this.#oneLine(piece)) return true;
    const head = this.#headOf(piece.words);
    if (head === null) return false;
    const group = this.#groups++;
    if (head.kind === 'try') this.#push('try', head.style, piece, group, null, []);
    else {
      if (head.kind === 'switch') this.#replace(piece, [], group);
      else if (this.#scope.filled || !isHead(this.#text.slice(piece.s, piece.e), head.lines.join('\n'), ENDS[head.kind]))
        this.#replace(piece, head.lines, group);
      this.#push(head.kind, head.style, piece, group, head.subject ?? null, head.caught === undefined ? [] : [head.caught]);
    }
    return true;
  }

  /** The head of a block. What is computed once may take statements before it. */
  #headOf(words: readonly Word[]): Head | null {
    const scope = this.#scope;
    const once = /^(?:if|unless|for|foreach)$/i.test(words[0]?.text ?? '');
    [scope.before, scope.after] = [once ? [] : null, []];
    const head = headOf(this.#text, words, scope);
    const before = scope.before ?? [];
    scope.before = null;
    if (scope.after.length > 0) throw new Unclear();
    return head && { ...head, lines: [...before, ...head.lines] };
  }

  /** `if (n > 2) console.log("big")`, `if n > 2 then emit "big"`: a head with its statement. */
  #oneLine(piece: Piece): boolean {
    const at = bodyAt(piece.words);
    if (at < 0 || /^(?:else|elif|elsif|elseif)$/.test(this.#next)) return false;
    const head = headOf(this.#text, piece.words.slice(0, at), this.#scope);
    if (head === null) return false;
    const written = piece.words.slice(at);
    const ended = /^(?:end|endif|fi|done|endfor)$/.test(written.at(-1)?.text ?? '') ? written.slice(0, -1) : written;
    const body = simple(this.#text, ended, this.#scope);
    this.#replace(piece, [...head.lines, ...body.map((line) => `  ${line}`), ENDS[head.kind]], this.#groups++);
    return true;
  }

  #push(
    kind: BlockKind,
    style: Head['style'],
    head: Piece,
    group: number,
    subject: string | null,
    caught: readonly string[],
  ): void {
    const indent = indentAt(this.#text, this.#starts, head.s);
    this.#blocks.push({
      kind,
      style,
      group,
      indent,
      width: indent.length,
      head,
      subject,
      caught,
      from: this.#changes.length,
      extra: 0,
      cases: 0,
      shared: [],
      sections: [],
      handler: null,
      doubtful: false,
    });
  }

  /** `case "a":` and `a)` within a `switch`. */
  #caseOf(piece: Piece): boolean {
    const block = this.#blocks.at(-1);
    if (block?.kind !== 'switch') return false;
    const found = caseIn(piece.words);
    if (found === null) return false;
    const last = this.#last === block.head ? null : (this.#last?.words[0]?.text ?? '');
    const test = (words: readonly Word[]): string => condition(this.#text, words, this.#scope);
    const { lines, rest } = linesOfCase(block, found, { last, next: this.#next, test });
    this.#replace(piece, rest.length > 0 ? [...lines, ...simple(this.#text, rest, this.#scope)] : lines, block.group);
    return true;
  }

  /** `else`, `elif`, `except`, also after a closing brace. */
  #middle(piece: Piece): boolean {
    const [brace, ...after] = piece.words;
    const words = brace?.text === '}' ? after : piece.words;
    const [first, second] = words;
    const word = first?.text.toLowerCase() ?? '';
    const block = this.#blocks.at(-1);
    if (block === undefined || first === undefined) return false;
    if (block.kind === 'try' && /^(?:except|catch|rescue)$/.test(word)) {
      block.handler = piece;
      const names = words
        .slice(1)
        .flatMap(({ kind, text }, index) => (kind === 'name' && /^[a-z]/.test(text) && text !== 'as' ? [{ text, index }] : []));
      this.#scope.caught = names.map(({ text }) => text);
      this.#blocks[this.#blocks.length - 1] = { ...block, caught: this.#scope.caught };
      return true;
    }
    if (block.kind === 'try' && /^(?:else|finally|ensure)$/.test(word)) {
      block.sections.push(piece);
      return true;
    }
    if (block.kind === 'repeat' && (word === 'until' || word === 'while')) {
      if (block.doubtful) this.#scope.guess();
      const cond = condition(this.#text, words.slice(1), this.#scope);
      this.#replace(
        piece,
        [`  if ${word === 'until' ? cond : `not (${cond})`}`, '    break', '  endif', 'endwhile'],
        block.group,
      );
      this.#blocks.pop();
      return true;
    }
    if (block.kind !== 'if' || !/^(?:else|elif|elsif|elseif)$/.test(word)) return false;
    const chained = word !== 'else' || second?.text.toLowerCase() === 'if';
    if (!chained) {
      this.#replace(piece, ['else', ...this.#elseOf(words)], block.group);
      return true;
    }
    const head = headOf(this.#text, [{ ...first, text: 'if' }, ...words.slice(word === 'else' ? 2 : 1)], this.#scope);
    if (head === null) return false;
    block.extra++;
    this.#replace(piece, ['else', ...head.lines], block.group);
    return true;
  }

  /** Translates the rest of the line of an `else`. */
  #elseOf(words: readonly Word[]): readonly string[] {
    const rest = words.slice(1).filter(({ text }, index) => index > 0 || !/^[:{]$/.test(text));
    return rest.length === 0 ? [] : simple(this.#text, rest, this.#scope);
  }

  #closer(piece: Piece): boolean {
    const words = piece.words.filter(({ text }) => text !== ';');
    const [first, second] = words;
    const word = first?.text.toLowerCase().replace(/^end_/, 'end') ?? '';
    const closes = CLOSERS[word];
    if (closes === undefined || first?.kind === 'text') return false;
    const spaced =
      word === 'end' && second !== undefined && isKind(second.text.toLowerCase())
        ? ENDS[second.text.toLowerCase() as BlockKind]
        : null;
    if (word !== '}' && word !== 'next' && spaced === null && words.length > 1) return false;
    const width = indentAt(this.#text, this.#starts, piece.s).length;
    if (word === 'next' && skips(piece, width, this.#blocks.at(-1))) return false;
    const kinds = spaced === null ? closes : (CLOSERS[spaced] ?? []);
    const index = kinds.length === 0 ? this.#blocks.length - 1 : this.#blocks.findLastIndex(({ kind }) => kinds.includes(kind));
    // It was inserted where an outer block ended before it.
    const own = spaced ?? word;
    if (index < 0 && this.#inserted.get(own)) {
      this.#inserted.set(own, (this.#inserted.get(own) ?? 0) - 1);
      this.#scope.guess();
      this.#replace(piece, [], this.#groups++);
      return true;
    }
    const at = index < 0 ? this.#blocks.length - 1 : index;
    if (at < 0) return false;
    if (word === 'next' && index < 0) return false;
    while (this.#blocks.length > at + 1) {
      const inner = this.#blocks.at(-1);
      if (inner !== undefined) this.#insertEnd(inner, this.#last?.e ?? piece.s);
    }
    const goesOn = this.#blocks.at(-1)?.kind === 'try' && /^(?:catch|except|finally)$/.test(this.#next);
    if (word === '}' && (goesOn || (this.#blocks.at(-1)?.kind === 'if' && /^(?:else|elif|elsif|elseif)$/.test(this.#next)))) {
      this.#replace(piece, [], this.#blocks.at(-1)?.group ?? this.#groups++);
      return true;
    }
    const block = this.#blocks.pop();
    this.#layout.closed(block);
    if (block?.doubtful) this.#scope.guess();
    if (block !== undefined) this.#close(block, piece);
    return true;
  }

  #close(block: Block, piece: Piece): void {
    if (block.kind === 'try') this.#closeTry(block, piece.e);
    else this.#replace(piece, endLines(block), block.group);
  }

  #insertEnd(block: Block, at: number): void {
    this.#blocks.pop();
    if (block.style === 'word') this.#scope.guess();
    if (block.kind === 'try') this.#closeTry(block, at);
    else {
      const text = endLines(block)
        .map((line) => `\n${block.indent}${line}`)
        .join('');
      const lineEnd = this.#text.indexOf(
        '\n',
        bodyEnd(block, this.#pieces, this.#index, (at) => indentAt(this.#text, this.#starts, at).length) ?? at,
      );
      const s = lineEnd < 0 ? this.#text.length : lineEnd;
      if (block.style === 'word')
        for (const line of endLines(block)) this.#inserted.set(line, (this.#inserted.get(line) ?? 0) + 1);
      if (text !== '') this.#changes.push({ s, e: s, text, group: block.group, guessed: this.#scope.guessed });
    }
    this.#scope.guessed = false;
  }

  /** Moves the handler of a `try` before the statements that it guards. */
  #closeTry(block: Block, end: number): void {
    const { handler, head, indent, sections } = block;
    const inner = this.#changes.splice(block.from);
    const closing = this.#last?.e === end ? end : (this.#last?.e ?? end);
    const parts = [...(handler === null ? [] : [handler]), ...sections];
    /** The statements after a head, up to the next one. */
    const after = (piece: Piece): string => {
      const next = parts.find(({ s }) => s > piece.s);
      const text = applied(this.#text, inner, piece.e, next?.s ?? closing);
      return text.replace(/^[^\S\n]*\n/, '').trimEnd();
    };
    const text = guarded({
      indent,
      body: after(head),
      caught: handler === null ? null : after(handler),
      more: sections.map((piece) => ({ always: piece.words.some(({ text }) => ENDING.has(text)), text: after(piece) })),
    });
    this.#changes.push({ s: head.s, e: end, text: text.trimStart(), group: block.group, guessed: true });
  }

  /** Replaces a statement by lines. Without lines, removes its whole line. */
  #replace(piece: Piece, lines: readonly string[], group: number): void {
    const old = this.#text.slice(piece.s, piece.e);
    const indent = indentAt(this.#text, this.#starts, piece.s);
    const text = lines.join(`\n${indent}`);
    const { guessed, filled, miscalls } = this.#scope;
    const meant = filled || miscalls || piece.words.some(({ s, e, text: name }) => this.#text.slice(s, e) !== name);
    if (!piece.follows && (same(old, text) || (!meant && isStatement(old, text)))) return;
    if (text === '') {
      const lineStart = piece.s - indent.length;
      const whole = this.#text.slice(lineStart - 1, lineStart) !== '' ? this.#text.charAt(lineStart - 1) === '\n' : true;
      const rest = /^[ \t]*(?:\n|$)/.exec(this.#text.slice(piece.e, piece.e + 200))?.[0];
      if (!piece.follows && whole && rest !== undefined) {
        this.#changes.push({ s: lineStart, e: piece.e + rest.length, text: '', group, guessed });
        return;
      }
    }
    const s = piece.follows ? (this.#last?.e ?? piece.s) : piece.s;
    const lead =
      piece.follows && text !== ''
        ? `\n${indent}${this.#blocks.length > 0 && this.#last === this.#blocks.at(-1)?.head ? '  ' : ''}`
        : '';
    this.#changes.push({ s, e: piece.e, text: `${lead}${text}`, group, guessed });
  }
}
