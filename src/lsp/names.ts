/** Resolves the names in a piece of source by its tokens alone, so that a piece with syntax errors has names as well. */
import type { Lexeme } from '../../grammar/index.ts';
import { builtinNamed } from '../../grammar/vocabulary/builtins.ts';
import { canonicalName } from '../../grammar/vocabulary/names.ts';

/** A place where a name stands. Offsets are those of the piece. */
export interface NameUse {
  readonly kind: 'procedure' | 'builtin' | 'tool' | 'field' | 'variable';
  /** Whether the place defines the procedure, or gives the variable a value. */
  readonly defines: boolean;
  /** Whether the variable is a parameter of the procedure. */
  readonly parameter: boolean;
  /** As written; for a tool its canonical name, for a built-in function in lower case. */
  readonly name: string;
  readonly s: number;
  readonly e: number;
  /** The variables of the piece are apart from those of an `on event` nested in it; each such handler has a number of its own. */
  readonly scope: number;
}

export interface Names {
  readonly uses: readonly NameUse[];
  /** The scopes whose variables `eval` may read by names that only a run knows. */
  readonly evaluating: ReadonlySet<number>;
  /** Fields and literal keys that stand in the piece. */
  readonly fields: ReadonlySet<string>;
}

export function namesOf(lexemes: readonly Lexeme[]): Names {
  return new Reader(lexemes.filter(({ kind }) => kind !== 'comment' && kind !== 'metadata' && kind !== 'text')).read();
}

const OPENERS: ReadonlySet<string> = new Set(['func', 'command', 'if', 'while', 'for', 'on', 'together']);
const CLOSERS: ReadonlySet<string> = new Set(['endfunc', 'endcommand', 'endif', 'endwhile', 'endfor', 'endon', 'endtogether']);

class Reader {
  readonly #all: readonly Lexeme[];
  readonly #uses: NameUse[] = [];
  readonly #evaluating = new Set<number>();
  readonly #fields = new Set<string>();
  /** The scope of each open block, innermost last. */
  readonly #blocks: number[] = [];
  #scopes = 0;
  #scope = 0;
  /** What the names at this place are: targets of `set` up to the `=`, parameters up to `means`, one variable after `into` or `as`. */
  #writes: 'none' | 'targets' | 'parameters' | 'one' = 'none';
  #depth = 0;

  constructor(all: readonly Lexeme[]) {
    this.#all = all;
  }

  read(): Names {
    for (let at = 0; at < this.#all.length; at++) at = this.#lexeme(at);
    return { uses: this.#uses, evaluating: this.#evaluating, fields: this.#fields };
  }

  /** Reads what begins at an index, and returns the index of its last lexeme. */
  #lexeme(at: number): number {
    const lexeme = this.#all[at];
    if (lexeme === undefined) return at;
    const { kind, image } = lexeme;
    if (kind === 'keyword') return this.#keyword(at, lexeme);
    if (kind === 'name') return this.#name(at, lexeme);
    if (kind === 'string' && (this.#is(at + 1, ':') || (this.#is(at - 1, '[') && this.#is(at + 1, ']')))) this.#fields.add(image);
    if (image === '[' || image === '(') this.#depth += 1;
    if (image === ']' || image === ')') this.#depth -= 1;
    if (image === '=' && this.#writes === 'targets') this.#writes = 'none';
    return at;
  }

  #keyword(at: number, lexeme: Lexeme): number {
    const { image } = lexeme;
    if (image === 'tool' && this.#is(at + 1, '.')) return this.#tool(at, lexeme);
    // In the head of a loop, `together` opens no block of its own.
    if (image === 'together' && this.#inLoop(at)) return at;
    if (OPENERS.has(image)) this.#open(at, image);
    else if (CLOSERS.has(image)) this.#scope = this.#blocks.pop() ?? 0;
    if (image === 'eval') this.#evaluating.add(this.#scope);
    const next = this.#all[at + 1];
    if (image === 'func' && next?.kind === 'name') {
      this.#add('procedure', next, true);
      this.#writes = 'parameters';
      return at + 1;
    }
    if (image === 'set') [this.#writes, this.#depth] = ['targets', 0];
    else if (image === 'each') [this.#writes, this.#depth] = ['targets', 0];
    else if (image === 'into' || image === 'as') [this.#writes, this.#depth] = ['one', 0];
    else if (image === 'means' || image === 'in' || LINE_STARTERS.has(image)) this.#writes = 'none';
    if (this.#is(at + 1, '(') && builtinNamed(image) !== undefined)
      this.#add('builtin', { ...lexeme, image: image.toLowerCase() }, false);
    return at;
  }

  /** A nested `on event` has variables of its own. */
  #open(at: number, image: string): void {
    this.#blocks.push(this.#scope);
    if (image !== 'on' || this.#all[at + 1]?.image !== 'event' || this.#blocks.length === 1) return;
    this.#scopes += 1;
    this.#scope = this.#scopes;
  }

  /** Whether the last word that begins a statement is `for`. */
  #inLoop(at: number): boolean {
    for (let before = at - 1; before >= 0; before--) {
      const { kind, image } = this.#all[before] ?? { kind: 'name', image: '' };
      if (kind === 'keyword' && (LINE_STARTERS.has(image) || image === 'set')) return image === 'for';
    }
    return false;
  }

  #tool(at: number, first: Lexeme): number {
    let last = at;
    while (this.#is(last + 1, '.') && this.#all[last + 2]?.kind === 'name') last += 2;
    const end = this.#all[last];
    if (end === undefined || last === at) return at;
    const written = this.#all.slice(at, last + 1).map(({ image }) => image);
    this.#add('tool', { ...first, image: canonicalName(written.join('')), e: end.e }, false);
    return last;
  }

  #name(at: number, lexeme: Lexeme): number {
    if (this.#is(at - 1, '.')) {
      this.#fields.add(lexeme.image);
      this.#add('field', lexeme, false);
    } else if (this.#is(at + 1, '(') && this.#writes !== 'parameters') {
      const builtin = builtinNamed(lexeme.image);
      this.#add(builtin === undefined ? 'procedure' : 'builtin', { ...lexeme, image: builtin ?? lexeme.image }, false);
    } else {
      const defines = this.#writes !== 'none' && (this.#depth === 0 || this.#writes === 'parameters');
      this.#add('variable', lexeme, defines);
      if (this.#writes === 'one') this.#writes = 'none';
    }
    return at;
  }

  #add(kind: NameUse['kind'], { image, s, e }: Lexeme, defines: boolean): void {
    const parameter = kind === 'variable' && this.#writes === 'parameters';
    this.#uses.push({ kind, defines, parameter, name: image, s, e, scope: this.#scope });
  }

  #is(at: number, image: string): boolean {
    const lexeme = this.#all[at];
    return lexeme?.image === image && (lexeme.kind === 'punctuation' || lexeme.kind === 'operator');
  }
}

const LINE_STARTERS: ReadonlySet<string> = new Set([
  ...OPENERS,
  ...CLOSERS,
  ...[
    'call',
    'emit',
    'whisper',
    'must',
    'return',
    'fail',
    'ask',
    'promptuser',
    'clear',
    'clear_error',
    'break',
    'continue',
    'else',
  ],
]);
