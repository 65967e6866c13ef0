import { isRecord } from '../../wire/unknown.ts';

/** A procedure that was made of a program, and its arguments in the session. */
export interface Promoted {
  readonly text: string;
  /** In the order of its parameters. */
  readonly args: readonly { readonly name: string; readonly value: unknown }[];
}

/** A program that no procedure can be made of. */
export class NotPromotable extends Error {}

/** Shortest text of a literal that counts as a value of USERDATA. Shorter ones are equal by chance too often. */
const LEAST_TEXT = 3;

/** Comments and raw texts, which stay as they are; then texts in quotes; then parts of USERDATA, also in the placeholders of templates. */
const PIECES =
  /(?<kept>'''[\s\S]*?'''|(?:#|--|\/\/)[^\n]*)|(?<quoted>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?<![\w.])userdata(?<steps>(?:\s*\.\s*\w+|\s*\[\s*"[^"\\\n]*"\s*\]){0,2})(?<more>\s*[.[])?(?!\w)/g;
const STEP = /\.\s*(\w+)|\[\s*"([^"\\\n]*)"\s*\]/g;

/** Stands for a token in a block that has nothing else, because no block may be empty. */
const NOTHING = 'set ended = true';

/** A statement that emits a control token, alone on its line. */
const TOKEN = /^([ \t]*)emit\s+tool\.aeiou\.magic\(.*\)[ \t]*$/gim;

/**
 * The procedure that does what ACTIONS did. Each part of USERDATA that the program names (`userdata.subject`, `userdata.fields.KEY`) becomes a
 * parameter with the last of these names, and so does each literal text of three characters or more that equals a text among them in USERDATA
 * and is not compared with anything.
 * Statements that emit a control token are left out. The text is not parsed here, so the caller runs the procedure before it is kept. Throws
 * {@link NotPromotable}.
 */
export function procedureOf(actions: string, userdata: unknown, name: string): Promoted {
  const body = /^\s*command\b[^\n]*\n([\s\S]*)\n\s*endcommand\s*$/.exec(actions)?.[1];
  if (body === undefined) throw new NotPromotable('its ACTIONS is not a command block');
  const untold = body.replaceAll(TOKEN, `$1${NOTHING}`);
  const tokens = body.split('\n').flatMap((line, index) => (line === untold.split('\n')[index] ? [] : [index + 1]));
  if (/tool\.aeiou\.magic/i.test(untold))
    throw new NotPromotable('it does more with a control token than to emit it on a line of its own');
  const parameters = new Parameters(userdata);
  const text = untold.replaceAll(PIECES, (piece: string, ...rest: readonly unknown[]) => {
    const { kept, quoted, steps, more = '' } = rest.at(-1) as Readonly<Record<string, string | undefined>>;
    if (kept !== undefined) return piece;
    const at = Number(rest.at(-3));
    if (quoted !== undefined && isCompared(untold, at, at + quoted.length)) return piece;
    if (quoted !== undefined) return parameters.ofText(quoted.slice(1, -1)) ?? piece;
    const keys = [...(steps ?? '').matchAll(STEP)].map(([, field, key]) => field ?? key ?? '');
    const isField = keys[0] === 'fields';
    if (keys.length !== (isField ? 2 : 1)) {
      // What stands behind `subject` is a part of it.
      if (keys.length !== 2) throw new NotPromotable('it uses USERDATA, or all of its fields, as a whole');
      throw new NotPromotable(`it reads a part of userdata.${keys[0]}`);
    }
    return `${parameters.ofPath(keys)}${more}`;
  });
  const needs = parameters.all.map((each) => each.name);
  const head = `func ${name}(${needs.length === 0 ? '' : `needs ${needs.join(', ')}`}) means`;
  return { text: withoutNothing([head, ...text.split('\n'), 'endfunc'], tokens), args: parameters.all };
}

/** Whether a piece of a text is compared with something. Which way a program goes for a value is no part of the value. */
function isCompared(text: string, from: number, to: number): boolean {
  const [before, after] = [text.slice(0, from).trimEnd(), text.slice(to).trimStart()];
  return ['==', '!='].some((sign) => before.endsWith(sign) || after.startsWith(sign));
}

/** The first words of lines that begin a block, and those of lines that end one. */
const OPENING = new Set(['func', 'if', 'else', 'for', 'while', 'on', 'together']);
const isClosing = (word: string): boolean => word === 'else' || word.startsWith('end');

/** The text of a procedure with blank lines for tokens, wherever another statement is left in the block. */
function withoutNothing(lines: readonly string[], tokens: readonly number[]): string {
  let left = lines;
  const wordOf = (line: string | undefined): string => line?.trim().split(' ')[0] ?? '';
  const isStatement = (line: string): boolean =>
    line.trim() !== '' && !['#', '--', '//'].some((mark) => line.trim().startsWith(mark));
  for (const at of tokens.filter((index) => lines[index]?.trim() === NOTHING)) {
    const isAlone =
      OPENING.has(wordOf(left.slice(0, at).findLast(isStatement))) && isClosing(wordOf(left.slice(at + 1).find(isStatement)));
    if (!isAlone) left = left.with(at, '');
  }
  const body = left.slice(0, -1).join('\n').trimEnd();
  return `${body}\n${left.at(-1) ?? ''}\n`;
}

/** The parameters so far, in the order in which the program names them. */
class Parameters {
  readonly all: { readonly name: string; readonly value: unknown }[] = [];
  readonly #names = new Map<string, string>();
  readonly #userdata: unknown;

  constructor(userdata: unknown) {
    this.#userdata = userdata;
  }

  ofPath(path: readonly string[]): string {
    const key = path.join('.');
    const known = this.#names.get(key);
    if (known !== undefined) return known;
    const plain = `given_${(path.at(-1) ?? '').replaceAll(/\W/g, '_')}`;
    const taken = new Set(this.#names.values());
    let name = plain;
    for (let count = 2; taken.has(name); count++) name = `${plain}_${count}`;
    this.#names.set(key, name);
    const value = path.reduce<unknown>((at, each) => (isRecord(at) ? at[each] : undefined), this.#userdata);
    this.all.push({ name, value: value ?? null });
    return name;
  }

  /** The parameter for a text of USERDATA; null for any other text. */
  ofText(text: string): string | null {
    if (text.length < LEAST_TEXT || !isRecord(this.#userdata)) return null;
    const { subject, fields } = this.#userdata;
    if (subject === text) return this.ofPath(['subject']);
    const [key] = Object.entries(isRecord(fields) ? fields : {}).find(([, value]) => value === text) ?? [];
    return key === undefined ? null : this.ofPath(['fields', key]);
  }
}
