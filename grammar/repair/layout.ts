/** The parts of a program: definitions, command blocks, statements outside of them. */

import type { Change } from './apply.ts';
import type { Block } from './blocks.ts';
import type { Piece } from './pieces.ts';

/** A definition, a command block, or statements outside of both. */
interface ProgramPart {
  readonly kind: 'func' | 'command' | 'on' | 'loose';
  readonly s: number;
  e: number;
  readonly block: Block | null;
  /** The first statement after definitions in a command block. */
  main: Piece | 'none yet' | null;
  readonly name: string;
}

const IMPORTS = /^(?:import|from|using|use|include|package|require)$/;
const DEFINES = /^(?:func|function|def|fn|fun|sub|proc|procedure|async|const|let|var|export|public|static|pub)$/;

/** Collects the parts of a program, and adds a missing command block or `main`. */
export class Layout {
  readonly #text: string;
  readonly #parts: ProgramPart[] = [];
  #changes: Change[] = [];
  /** Whether the last statement ended a procedure. */
  #closedFunc = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** Records that a statement has ended a block. */
  closed(block: Block | undefined): void {
    this.#closedFunc = block?.kind === 'func';
  }

  /** Records the part of the program to which a statement belongs. */
  note(piece: Piece, outer: Block | null, blocks: readonly Block[]): void {
    const block = outer ?? blocks[0] ?? null;
    const known = this.#parts.at(-1);
    const first = piece.words[0]?.text ?? '';
    const kind = block?.kind === 'func' || block?.kind === 'command' || block?.kind === 'on' ? block.kind : 'loose';
    if (kind === 'loose') {
      const nothing = piece.words.every(({ kind: is, text }) => is === 'text' || text === ';') || IMPORTS.test(first);
      if (nothing || (first === '::' && block === null)) return;
      if (known?.kind === 'loose') known.e = piece.e;
      else this.#parts.push({ kind, s: piece.s, e: piece.e, block: null, main: null, name: '' });
      return;
    }
    if (known?.block?.group !== block?.group || known?.kind === 'loose') {
      const name = piece.words.find(({ text, kind: is }) => is === 'name' && !DEFINES.test(text))?.text ?? '';
      this.#parts.push({ kind, s: piece.s, e: piece.e, block, main: null, name });
      return;
    }
    if (known === undefined) return;
    known.e = piece.e;
    const inner = blocks[1]?.kind ?? 'none';
    const nested = known.kind === 'command' && (inner === 'func' || (this.#closedFunc && blocks.length === 1));
    if (nested) known.main ??= 'none yet';
    else if (known.main === 'none yet' && blocks.length > 0) known.main = piece;
    this.#closedFunc = false;
  }

  /** Adds the missing command block or `main`. */
  arrange(changes: Change[], group: number): void {
    this.#changes = changes;
    const procedures = this.#parts.filter(({ kind }) => kind === 'func');
    const commands = this.#parts.filter(({ kind }) => kind === 'command');
    const loose = this.#parts.filter(({ kind }) => kind === 'loose');
    const hasMain = procedures.some(({ name }) => name === 'main');
    const [command] = commands;
    const [only] = loose;
    if (only !== undefined && loose.length === 1 && commands.length === 0 && !hasMain) {
      const [head, end] = procedures.length === 0 ? ['command', 'endcommand'] : ['func main() means', 'endfunc'];
      this.#insert(only.s, `${head}\n`, group);
      this.#insert(this.#lineEnd(only.e), `\n${end}`, group);
    }
    if (command?.block == null || commands.length > 1 || loose.length > 0 || hasMain) return;
    const { head } = command.block;
    if (command.main !== null && typeof command.main === 'object' && procedures.length === 0) {
      this.#rewrite(head.s, head.e, '', group);
      this.#insert(command.main.s, 'func main() means\n', group);
    } else if (procedures.length > 0) this.#rewrite(head.s, head.e, 'func main() means', group);
    else return;
    const last = this.#text.lastIndexOf('endcommand', command.e);
    if (last > head.e && last + 10 === command.e) this.#rewrite(last, command.e, 'endfunc', group);
    else this.#retext('endcommand', 'endfunc');
  }

  #insert(at: number, text: string, group: number): void {
    this.#changes.push({ s: at, e: at, text, group, guessed: false });
  }

  /** Replaces a word, and drops earlier replacements of it. */
  #rewrite(s: number, e: number, text: string, group: number): void {
    const planned = this.#changes.findIndex((change) => change.s <= s && change.e >= e && change.e > change.s);
    if (planned >= 0) this.#changes.splice(planned, 1);
    this.#changes.push({ s, e, text, group, guessed: false });
  }

  #retext(from: string, to: string): void {
    const at = this.#changes.findLastIndex(({ text }) => text.endsWith(from));
    const change = this.#changes[at];
    if (change !== undefined) this.#changes[at] = { ...change, text: change.text.slice(0, -from.length) + to };
  }

  #lineEnd(at: number): number {
    const end = this.#text.indexOf('\n', at);
    return end < 0 ? this.#text.length : end;
  }
}
