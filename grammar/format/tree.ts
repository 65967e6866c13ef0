/**
 * The source as the formatter reads it: lines of tokens, nested by brackets, with the comments at their places. The source must have been
 * parsed without an error.
 */
import type { TokenType } from 'chevrotain';
import { isBlank, LF } from '../syntax/codeunits.ts';
import { type Comment, commentsOf } from '../syntax/comments.ts';
import { asksForDoubleBrackets } from '../syntax/metadata.ts';
import { scan } from '../syntax/scan.ts';
import {
  BuiltIn,
  Identifier,
  keyword,
  Metadata,
  members,
  Newline,
  NoStatement,
  operandEnds,
  punct,
  TemplateClose,
  TemplateOpen,
  type Token,
} from '../syntax/tokens.ts';

/** Text that is never broken: a token, or a whole template. */
export interface Atom {
  readonly k: 'atom';
  readonly type: TokenType;
  readonly text: string;
  readonly s: number;
  readonly e: number;
}

/** A comment inside brackets. `own` says that only blanks precede it on its line. */
export interface Note {
  readonly k: 'note';
  readonly text: string;
  readonly own: boolean;
}

export type Role = 'call' | 'eval' | 'signature' | 'group' | 'list' | 'index' | 'map' | 'placeholder';

/** `(…)`, `[…]`, `{…}` or `{{…}}`. */
export interface Bracket {
  readonly k: 'bracket';
  readonly role: Role;
  readonly open: Atom;
  readonly close: Atom;
  readonly content: readonly Node[];
  /** Whether a line end directly follows the opening bracket in the source. */
  readonly spread: boolean;
}

/** A part of a line. */
export type Node = Atom | Note | Bracket;

/** A logical line of the source: a statement, a metadata line, or a comment on a line of its own. */
export interface Line {
  readonly k: 'statement' | 'metadata' | 'comment';
  readonly nodes: readonly Node[];
  /** The comment at the end of the line, or the comment on a line of its own. */
  readonly comment: string | undefined;
  /** Whether an empty line precedes it. */
  readonly apart: boolean;
}

/** The lines of a source that parses. Takes linear time. */
export function linesOf(text: string): readonly Line[] {
  return new LineReader(text).read();
}

interface Frame {
  readonly open: Atom;
  readonly role: Role;
  readonly nodes: Node[];
  readonly spread: boolean;
  /** Whether the first of the two braces that close a `{{` was read. */
  half: boolean;
}

class LineReader {
  readonly #text: string;
  readonly #tokens: readonly Token[];
  readonly #comments: readonly Comment[];
  readonly #lines: Line[] = [];
  readonly #frames: Frame[] = [];
  #nodes: Node[] = [];
  #nextComment = 0;

  constructor(text: string) {
    this.#text = text;
    this.#tokens = scan(text, asksForDoubleBrackets(text)).tokens.filter(({ tokenType }) => tokenType !== NoStatement);
    this.#comments = commentsOf(text, this.#tokens);
  }

  read(): readonly Line[] {
    for (let index = 0; index < this.#tokens.length; index++) {
      this.#takeComments(index);
      const token = this.#tokens[index];
      if (token === undefined) break;
      if (token.tokenType === Newline) this.#finish();
      else if (token.tokenType === TemplateOpen) index = this.#template(index);
      else this.#token(token);
    }
    this.#takeComments(this.#tokens.length);
    this.#finish();
    return this.#lines;
  }

  #token(token: Token): void {
    const atom = this.#atom(token.tokenType, token.startOffset, token.endOffset + 1);
    // `endfunc func g() means` may stand on one line.
    if (blockStarts.has(atom.type) && this.#frames.length === 0) this.#finish();
    if (opening.has(atom.type)) {
      const spread = /^[ \t\\]*(?:\n|#|--|\/\/)/.test(this.#text.slice(atom.e, atom.e + 200));
      this.#frames.push({ open: atom, role: this.#roleOf(atom.type), nodes: [], spread, half: false });
    } else if (closing.has(atom.type)) {
      this.#close(atom);
    } else {
      this.#place(atom);
    }
  }

  #roleOf(open: TokenType): Role {
    const before = (this.#frames.at(-1)?.nodes ?? this.#nodes).findLast(({ k }) => k !== 'note');
    if (open === punct.openPlaceholder) return 'placeholder';
    if (open === punct.openBrace) return 'map';
    if (open === punct.openBracket) return endsOperand(before) ? 'index' : 'list';
    if (before?.k !== 'atom') return 'group';
    if (before.type === keyword.eval) return 'eval';
    const first = this.#nodes[0];
    if (first?.k === 'atom' && first.type === keyword.func) return 'signature';
    return before.type === Identifier || builtIns.has(before.type) ? 'call' : 'group';
  }

  /** Two tokens close a `{{`. They become one atom. */
  #close(atom: Atom): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined) return;
    if (frame.role === 'placeholder' && !frame.half) {
      frame.half = true;
      return;
    }
    this.#frames.pop();
    const { open, role, nodes: content, spread } = frame;
    const close = role === 'placeholder' ? { ...atom, text: '}}' } : atom;
    this.#place({ k: 'bracket', role, open, close, content, spread });
  }

  /** A template, with its parts, becomes one atom. */
  #template(index: number): number {
    let end = index;
    while (this.#tokens[end]?.tokenType !== TemplateClose) end++;
    const open = this.#tokens[index];
    const close = this.#tokens[end];
    if (open === undefined || close === undefined) return end;
    this.#place(this.#atom(TemplateClose, open.startOffset, close.endOffset + 1));
    while ((this.#comments[this.#nextComment]?.s ?? Number.POSITIVE_INFINITY) < close.startOffset) this.#nextComment++;
    return end;
  }

  #atom(type: TokenType, s: number, e: number): Atom {
    return { k: 'atom', type, text: this.#text.slice(s, e), s, e };
  }

  #place(node: Node): void {
    (this.#frames.at(-1)?.nodes ?? this.#nodes).push(node);
  }

  #takeComments(index: number): void {
    for (let next = this.#comments[this.#nextComment]; next !== undefined; next = this.#comments[this.#nextComment]) {
      if (next.before > index) return;
      this.#nextComment++;
      this.#comment(next);
    }
  }

  #comment({ s, e }: Comment): void {
    const text = this.#text.slice(s, e).trimEnd();
    if (this.#frames.length > 0) this.#place({ k: 'note', text, own: this.#standsAlone(s) });
    else if (this.#nodes.length > 0) this.#finish(text);
    else this.#lines.push({ k: 'comment', nodes: [], comment: text, apart: this.#isApart(s) });
  }

  #finish(comment?: string): void {
    const [first] = this.#nodes;
    if (first === undefined) return;
    const s = first.k === 'atom' ? first.s : 0;
    const k = first.k === 'atom' && first.type === Metadata ? 'metadata' : 'statement';
    this.#lines.push({ k, nodes: this.#nodes, comment, apart: this.#isApart(s) });
    this.#nodes = [];
  }

  /** Whether only blanks precede a place on its line. */
  #standsAlone(at: number): boolean {
    let before = at - 1;
    while (isBlank(this.#text.charCodeAt(before))) before--;
    return before < 0 || this.#text.charCodeAt(before) === LF;
  }

  /** Whether an empty line precedes the line of a place. */
  #isApart(at: number): boolean {
    let feeds = 0;
    for (let before = at - 1; before >= 0; before--) {
      const unit = this.#text.charCodeAt(before);
      if (unit === LF) feeds++;
      else if (!isBlank(unit)) break;
    }
    return feeds > 1;
  }
}

/** Whether this node completes an operand, so that a `-` after it is binary and a `[` opens an index. */
export function endsOperand(node: Node | undefined): boolean {
  return node?.k === 'bracket' || (node?.k === 'atom' && operandEnds.has(node.type));
}

const builtIns = members(BuiltIn);
const blockStarts: ReadonlySet<TokenType> = new Set([keyword.func, keyword.command, keyword.on]);
const opening: ReadonlySet<TokenType> = new Set([punct.openParen, punct.openBracket, punct.openBrace, punct.openPlaceholder]);
const closing: ReadonlySet<TokenType> = new Set([punct.closeParen, punct.closeBracket, punct.closeBrace]);
