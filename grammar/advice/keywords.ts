/** Advice on words that begin a statement in other languages: what to write in NeuroScript. */
import type { IToken, TokenType } from 'chevrotain';
import { Identifier, keyword, keywords, punct } from '../syntax/tokens.ts';

/** Advice on a keyword of another language. */
export interface KeywordAdvice {
  readonly message: string;
  readonly hint: string;
  /** Whether the advice also explains a line outside all blocks. */
  readonly topLevel: boolean;
}

interface Entry {
  readonly words: string;
  readonly hint: string;
  readonly topLevel?: boolean;
  /** Whether the word opens a block. The end keyword of such a block is not reported as a second problem. */
  readonly block?: boolean;
}

const onError = 'write `on error do` … `endon` inside the block that it guards';

const table: readonly Entry[] = [
  { words: 'let var const local dim my val auto', hint: 'write `set x = …`' },
  { words: 'print println printf echo puts say write display output log console', hint: 'write `emit value`' },
  { words: 'elif elsif elseif', hint: 'write `else`, on the next line `if …`, and one more `endif` after the inner one' },
  {
    words: 'function def fn fun fund procedure proc sub define',
    hint: 'write `func name(needs a, b) means` … `endfunc`',
    topLevel: true,
    block: true,
  },
  { words: 'foreach', hint: 'write `for each item in list` … `endfor`', block: true },
  { words: 'until loop repeat', hint: 'write `while condition` … `endwhile`', block: true },
  { words: 'do begin', hint: 'a block begins with `if`, `while`, `for each` or `on error do`', block: true },
  { words: 'try', hint: onError, block: true },
  { words: 'catch except rescue finally', hint: onError },
  { words: 'switch match case when unless', hint: 'write `if` … `else` … `endif`', block: true },
  { words: 'throw raise error panic', hint: "write `fail 'message'`" },
  { words: 'assert ensure require mustbe', hint: 'write `must condition`' },
  {
    words: 'import include using use from package module',
    hint: 'NeuroScript has no imports: the host provides the tools',
    topLevel: true,
  },
  { words: 'class struct type interface enum', hint: 'a program defines no types: use maps', topLevel: true, block: true },
  {
    words:
      'end fi done esac endforeach endfunction endtry end_if end_while next wend endswitch endcase endclass enddo endloop endfunction end_for',
    hint: 'a block ends with `endif`, `endwhile`, `endfor`, `endon`, `endfunc` or `endcommand`',
  },
  { words: 'exit quit stop halt', hint: 'write `return` to end this block, or `fail` to end with an error' },
  { words: 'input read readline prompt', hint: "write `promptuser 'question' into x`" },
  { words: 'pass noop', hint: 'a block needs a real statement, such as `set _ = nil`' },
  { words: 'clear_event clearevent', hint: 'write `clear event "name"` or `clear event named "handler"`' },
  { words: 'goto jump', hint: 'write `while` … `endwhile`, `if` … `endif`, or a procedure' },
  { words: 'then', hint: 'the head of a block ends with its line, without `then`' },
  {
    words: 'await async go defer yield parallel concurrently simultaneously gather',
    hint: 'calls run one after the other: write `call f()`; to run calls of tools at the same time, write them between `together` and `endtogether`, each on a line alone',
  },
  {
    words: 'together',
    hint: 'write `together` alone on its line, below it calls of tools, each on a line of its own, then `endtogether`',
    block: true,
  },
  { words: 'endtogether end_together', hint: 'it ends a block that begins with `together`, alone on its line' },
];

const byWord: ReadonlyMap<string, Entry> = new Map(
  table.flatMap((entry) => entry.words.split(' ').map((word): [string, Entry] => [word, entry])),
);

/** Tokens that follow such a word where it is an ordinary name: `end = 1`, `type[0]`. */
const nameFollowers: ReadonlySet<TokenType> = new Set([punct.assign, punct.dot, punct.openBracket]);

/** Advice on a line that begins with a keyword of another language; undefined for any other word. */
export function foreignKeyword(token: IToken, next: IToken): KeywordAdvice | undefined {
  const image = token.image;
  if (token.tokenType !== Identifier && keywords.get(image) !== token.tokenType) return undefined;
  const lower = image.toLowerCase();
  if (token.tokenType === Identifier && image !== lower && keywords.has(lower)) {
    return { message: `\`${image}\` is not a keyword: keywords are in lower case`, hint: `write \`${lower}\``, topLevel: true };
  }
  const entry = byWord.get(lower);
  if (entry === undefined) return undefined;
  if (nameFollowers.has(next.tokenType) && lower !== 'console') return undefined;
  if (next.tokenType === punct.openParen && !callLike.has(lower)) return undefined;
  return { message: `\`${image}\` is not a statement of NeuroScript`, hint: entry.hint, topLevel: entry.topLevel ?? false };
}

/** Foreign keywords that other languages write with parentheses, like a call. */
const callLike: ReadonlySet<string> = new Set(
  'print println printf echo puts say write display output log input readline prompt require assert panic exit switch catch elif elsif elseif foreach until unless'.split(
    ' ',
  ),
);

/** Whether a line with this first word opens a block that the grammar cannot follow. */
export function opensForeignBlock(first: IToken): boolean {
  const foreign = first.tokenType === Identifier || first.tokenType === keyword.do;
  return foreign && byWord.get(first.image.toLowerCase())?.block === true;
}
