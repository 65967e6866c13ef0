import { dirname, join } from 'node:path';
import { printable } from '../../report/index.ts';
import type { RunRequest } from '../../runtime/index.ts';
import type { LimitOptions } from '../../sandbox/index.ts';
import type { EventInput, TaggedJson } from '../../wire/protocol.ts';
import { isRecord } from '../../wire/unknown.ts';
import { parseJson, parsePair } from '../flags/options.ts';
import { UsageError } from '../terminal/failure.ts';

/** One case of a test file: a program, and what it must do. */
export interface TestCase {
  readonly title: string;
  /** The test file, and the line of the case in it. */
  readonly file: string;
  readonly line: number;
  /** The program of the case, with as many lines in front as in the file, so that positions are those of the file. Made when it is read. */
  readonly source: string;
  /** Files that run together with it. */
  readonly files: readonly string[];
  /** What its run gets. */
  readonly given: Pick<RunRequest, 'globals' | 'events' | 'limits'>;
  readonly expected: Expected;
}

export interface Expected {
  readonly emits: readonly string[];
  /** The error that ends the program; `limit` is that of a quota, `line` that of the comment, if it stands behind code. */
  readonly error: { readonly code: string; readonly limit: string | null; readonly line: number | null } | null;
  /** Codes of the errors of event handlers. */
  readonly eventErrors: readonly string[];
}

/** The cases of a test file, which lines of `---` separate. Throws {@link UsageError} with the line of a mistake. */
export function readCases(file: string, text: string): TestCase[] {
  const cases: TestCase[] = [];
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n?|\n/);
  let first = 0;
  for (const [index, line] of [...lines, '---'].entries()) {
    if (line.trimEnd() !== '---') continue;
    let start = first;
    while (start < index && lines[start]?.trim() === '') start += 1;
    if (start < index) cases.push(readCase(file, lines.slice(start, index), start));
    first = index + 1;
  }
  if (cases.length === 0) throw new UsageError(`${printable(file)} has no case; a case starts with '#: ' and a title`);
  return cases;
}

const SETTING = /^#: ?(.*)$/;
const BLOCK = /^\s*(?:func|command|on\s+event|::)(?![A-Za-z0-9_])/;
/** A line that holds a setting and nothing else. */
const BARE = /^\s*#:/;
const COMMENT = /^\s*(?:#|--|$)/;

/** A case from its lines. The file has `before` lines in front of them. */
function readCase(file: string, lines: readonly string[], before: number): TestCase {
  const place = (index: number): string => `${printable(file)}:${before + index + 1}`;
  const title = SETTING.exec(lines[0] ?? '')?.[1]?.trim() ?? '';
  if (title === '') throw new UsageError(`${place(0)}: a case starts with '#: ' and its title`);
  const { files, ...given }: Settings = { files: [], globals: Object.create(null), events: [], limits: {} };
  const emits: string[] = [];
  const eventErrors: string[] = [];
  let error: Expected['error'] = null;
  for (const { index, mark, glued, what } of marksOf(lines)) {
    if (index === 0) continue;
    const here = place(index);
    if (mark === '#:') {
      if (BARE.test(lines[index] ?? '')) set({ files, ...given }, what.trim(), here, dirname(file));
      continue;
    }
    if (glued) throw new UsageError(`${here}: a blank must follow '${mark}'`);
    if (mark === '#=>') emits.push(what);
    else if (mark === '#!event') eventErrors.push(readError(what, here).code);
    else {
      if (error !== null) throw new UsageError(`${here}: a case ends with one error`);
      error = { ...readError(what, here), line: COMMENT.test(lines[index] ?? '') ? null : before + index + 1 };
    }
  }
  if (files.length + emits.length + eventErrors.length === 0 && error === null && lines.every((line) => COMMENT.test(line)))
    throw new UsageError(`${place(0)}: the case has no program and expects nothing`);
  return {
    title,
    file,
    line: before + 1,
    get source() {
      return programOf(lines, before);
    },
    files,
    given,
    expected: { emits, error, eventErrors },
  };
}

interface Settings {
  readonly files: string[];
  readonly globals: Record<string, TaggedJson>;
  readonly events: EventInput[];
  readonly limits: LimitOptions;
}

function set({ files, globals, events, limits }: Settings, setting: string, place: string, folder: string): void {
  const [word = ''] = setting.split(' ', 1);
  const rest = setting.slice(word.length).trim();
  if (word === 'file') files.push(join(folder, rest));
  else if (word === 'global') {
    const { name, value } = parsePair(place, rest);
    globals[name] = value;
  } else if (word === 'event') {
    const { name, value } = rest.includes('=') ? parsePair(place, rest) : { name: rest, value: null };
    events.push({ name, source: 'test', payload: value });
  } else if (word === 'limits') {
    const given = parseJson(place, rest);
    if (!isRecord(given)) throw new UsageError(`${place}: limits are an object, such as {"fuel": 100}`);
    Object.assign(limits, given);
  } else throw new UsageError(`${place}: '#: ${printable(word)}' must be file, global, event or limits`);
}

/** A code and, behind it, the limit of a quota. `9` and `NS9` are the same code. */
function readError(text: string, place: string): { readonly code: string; readonly limit: string | null } {
  const [code = '', limit = null, ...more] = text.trim().split(/\s+/);
  if (code === '') throw new UsageError(`${place}: the code of the error is missing`);
  if (more.length > 0) throw new UsageError(`${place}: only a limit name may follow the code`);
  return { code: /^\d+$/.test(code) ? `NS${code}` : code, limit };
}

/** The program with its lines where they are in the file. Statements alone become a command block, which the line of the title opens. */
function programOf(lines: readonly string[], before: number): string {
  const code = lines.find((line) => !COMMENT.test(line));
  if (code === undefined) return '';
  const wraps = !BLOCK.test(code);
  return ['\n'.repeat(before), wraps ? 'command' : '', '\n', lines.slice(1).join('\n'), wraps ? '\nendcommand\n' : '\n'].join('');
}

/** What a comment of a case may begin with. */
type MarkName = '#:' | '#=>' | '#!!' | '#!event';

/** A mark within a comment of a case. */
interface Mark {
  /** Index of the line, from 0. */
  readonly index: number;
  readonly mark: MarkName;
  /** Whether no blank follows the mark. */
  readonly glued: boolean;
  /** The rest of the line, behind one blank. */
  readonly what: string;
}

/** Where a string or a comment begins. */
const BEGINNING = /'''|```|["'#]|--|\/\//g;
const MARK = /(?:^|\s)(?:#=>|#!!|#!event)/;

/**
 * The first mark of each comment. A mark within a string of the program is text. An open string ends the program with an error, which
 * a mark on that line may expect: there it counts.
 */
function* marksOf(lines: readonly string[]): Generator<Mark> {
  const text = lines.join('\n');
  let index = 0;
  let counted = 0;
  let from = 0;
  for (const { 0: opening, index: at } of text.matchAll(BEGINNING)) {
    if (at < from) continue;
    const { end, isString } = pieceAt(text, at, opening);
    from = end;
    const found = isString ? null : markIn(text.slice(at, end));
    if (found === null) continue;
    for (; counted < at; counted += 1) if (text[counted] === '\n') index += 1;
    yield { index, ...found };
  }
}

/** The end of the piece that begins at an offset, and whether it is a closed string. */
function pieceAt(text: string, at: number, opening: string): { readonly end: number; readonly isString: boolean } {
  if (opening.length === 3) {
    const close = text.indexOf(opening, at + 3);
    return close < 0 ? { end: at + 3, isString: true } : { end: close + 3, isString: true };
  }
  const feed = text.indexOf('\n', at);
  const end = feed < 0 ? text.length : feed;
  if (opening !== '"' && opening !== "'") return { end, isString: false };
  for (let offset = at + 1; offset < end; offset += text[offset] === '\\' ? 2 : 1)
    if (text[offset] === opening) return { end: offset + 1, isString: true };
  return { end, isString: false };
}

function markIn(piece: string): Omit<Mark, 'index'> | null {
  if (piece.startsWith('#:')) return { mark: '#:', glued: false, what: piece.slice(2) };
  const found = MARK.exec(piece);
  if (found === null) return null;
  const mark = found[0].trimStart() as MarkName;
  const rest = piece.slice(found.index + found[0].length);
  return { mark, glued: /^\S/.test(rest), what: rest.slice(1) };
}
