import { isSpace, withoutSpace } from '../../wire/whitespace.ts';
import { display, List, payRound, TextBuilder, toNumeric, typeName, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { folded, lower, upper } from './casing.ts';
import { Parts, part, piece, scan } from './charges.ts';
import { bytesOf, fromBase64, fromHex, textOf, toBase64, toHex } from './codecs.ts';
import { checkMarks } from './combining.ts';
import type { Group } from './define.ts';
import { inspect } from './inspect.ts';
import { parseJson } from './json.ts';
import { jsonText, plainIndent } from './jsontext.ts';
import { findAll, isMatch, replaceAll } from './regex.ts';
import { before, characterOffset, occurrences, replaceText, width } from './search.ts';
import { Needle } from './substring.ts';

/** What the reference's `str` group does and then some, on code points throughout (language.md 3.1). */
export const STR: Group<'str'> = {
  'tool.str.Length': (machine, text) => machine.codePoints.count(text),
  'tool.str.Substring': substring,
  'tool.str.ToUpper': upper,
  'tool.str.ToLower': lower,
  'tool.str.TrimSpace': (machine, text) => {
    scan(machine, text.length);
    const { start, end } = withoutSpace(text, () => machine.pay(WORK.textPart));
    return part(machine, text, start, end);
  },
  'tool.str.Trim': (machine, text, characters) => {
    const set = characterSet(machine, characters);
    scan(machine, text.length);
    let start = 0;
    let end = text.length;
    let passed = 0;
    while (start < end && set.has(text.codePointAt(start) ?? 0)) {
      payRound(machine, ++passed);
      start += width(text, start);
    }
    while (end > start && set.has(text.codePointAt(before(text, end)) ?? 0)) {
      payRound(machine, ++passed);
      end = before(text, end);
    }
    return part(machine, text, start, end);
  },
  'tool.str.TrimPrefix': (machine, text, prefix) => {
    scan(machine, prefix.length);
    return text.startsWith(prefix) ? part(machine, text, prefix.length, text.length) : text;
  },
  'tool.str.TrimSuffix': (machine, text, suffix) => {
    scan(machine, suffix.length);
    return text.endsWith(suffix) ? part(machine, text, 0, text.length - suffix.length) : text;
  },
  'tool.str.Split': (machine, text, delimiter) => {
    scan(machine, text.length + delimiter.length);
    const parts = new Parts(machine);
    if (delimiter === '') {
      for (let at = 0; at < text.length; at += width(text, at)) parts.add(text, at, at + width(text, at));
      return parts.finish();
    }
    let start = 0;
    for (const at of occurrences(machine, text, delimiter)) {
      parts.add(text, start, at);
      start = at + delimiter.length;
    }
    parts.add(text, start, text.length);
    return parts.finish();
  },
  'tool.str.SplitWords': (machine, text) => {
    scan(machine, text.length);
    const parts = new Parts(machine);
    for (let at = 0; at < text.length; ) {
      while (at < text.length && isSpace(text.charCodeAt(at))) payRound(machine, ++at);
      const start = at;
      while (at < text.length && !isSpace(text.charCodeAt(at))) payRound(machine, ++at);
      if (at > start) parts.add(text, start, at);
    }
    return parts.finish();
  },
  'tool.str.Lines': (machine, text) => {
    scan(machine, text.length);
    const parts = new Parts(machine);
    for (let start = 0; start < text.length; ) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      parts.add(text, start, end > start && text.charCodeAt(end - 1) === RETURN && feed >= 0 ? end - 1 : end);
      start = end + 1;
    }
    return parts.finish();
  },
  'tool.str.LineCount': (machine, text) => {
    scan(machine, text.length);
    let lines = text === '' || text.endsWith('\n') ? 0 : 1;
    for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
      machine.pay(WORK.item);
      lines++;
    }
    return lines;
  },
  'tool.str.Join': (machine, list, separator) => join(machine, list, separator, 'string_list'),
  'tool.str.Concat': (machine, list) => join(machine, list, '', 'strings_list'),
  'tool.str.Replace': replaceText,
  'tool.str.Contains': (machine, text, substring) => find(machine, text, substring, 0) >= 0,
  'tool.str.HasPrefix': (machine, text, prefix) => {
    scan(machine, prefix.length);
    return text.startsWith(prefix);
  },
  'tool.str.HasSuffix': (machine, text, suffix) => {
    scan(machine, suffix.length);
    return text.endsWith(suffix);
  },
  'tool.str.IndexOf': (machine, text, substring, start) => {
    if (start < 0) machine.fail('Bounds', `start_index (${start}) cannot be negative`);
    const at = find(machine, text, substring, characterOffset(machine, text, start));
    return at < 0 ? -1 : charactersBefore(machine, text, at);
  },
  'tool.str.LastIndexOf': (machine, text, substring) => {
    scan(machine, text.length + substring.length);
    const at = substring === '' ? text.length : new Needle(machine, substring).last(text);
    return at < 0 ? -1 : charactersBefore(machine, text, at);
  },
  'tool.str.Count': (machine, text, substring) => {
    if (substring === '') return machine.codePoints.count(text) + 1;
    let count = 0;
    for (const _ of occurrences(machine, text, substring)) count++;
    return count;
  },
  'tool.str.EqualFold': (machine, left, right) => folded(machine, left) === folded(machine, right),
  'tool.str.Repeat': (machine, text, count) => {
    if (count < 0) machine.fail('Bounds', `count (${count}) cannot be negative`);
    return repeated(machine, text, count);
  },
  'tool.str.PadLeft': (machine, text, length, pad) => padding(machine, text, length, pad) + text,
  'tool.str.PadRight': (machine, text, length, pad) => text + padding(machine, text, length, pad),
  'tool.str.Normalize': (machine, text, form) => {
    if (form !== 'NFC' && form !== 'NFD' && form !== 'NFKC' && form !== 'NFKD')
      return machine.fail('InvalidValue', `form must be NFC, NFD, NFKC or NFKD, got "${form.slice(0, 20)}"`);
    checkMarks(machine, text);
    machine.pay(WORK.normalize, text.length);
    const made = normalized(machine, text, form);
    machine.release(WORK.normalize.bytes * text.length);
    machine.allocateText(made.length);
    return made;
  },
  'tool.str.ToNumber': (machine, text) => toNumeric(machine, text) ?? null,
  'tool.str.ToBase64': (machine, text) => toBase64(machine, bytesOf(machine, text)),
  'tool.str.FromBase64': (machine, text) => textOf(machine, fromBase64(machine, text)),
  'tool.str.BytesToBase64': (machine, text) => toBase64(machine, bytesOf(machine, text)),
  'tool.str.BytesFromBase64': (machine, text) => textOf(machine, fromBase64(machine, text)),
  'tool.str.ToHex': (machine, text) => toHex(machine, bytesOf(machine, text)),
  'tool.str.FromHex': (machine, text) => textOf(machine, fromHex(machine, text)),
  'tool.str.ParseJsonString': parseJson,
  'tool.str.ParseFromJsonBase64': (machine, text) => parseJson(machine, textOf(machine, fromBase64(machine, text))),
  'tool.str.ToJsonString': (machine, value, pretty, prefix, indent) => {
    if (!(value instanceof List) && typeName(value) !== 'map')
      return machine.fail(
        'Type',
        `ToJsonString takes a map or a list, got ${typeName(value)}`,
        'tool.json.Stringify takes any value',
      );
    return jsonText(machine, value, pretty ? { first: `\n${prefix}`, step: indent } : plainIndent);
  },
  'tool.str.MatchRegex': isMatch,
  'tool.str.FindAllRegex': (machine, pattern, text) => findAll(machine, pattern, text, -1),
  'tool.str.ReplaceRegex': (machine, pattern, text, replacement) => replaceAll(machine, pattern, text, replacement, -1),
  'tool.str.Inspect': inspect,
  'tool.str.StripAnsi': (machine, text) => {
    machine.pay(WORK.text, text.length);
    machine.allocateText(text.length);
    const pieces: string[] = [];
    let start = 0;
    for (let at = text.indexOf(ESCAPE); at >= 0; at = text.indexOf(ESCAPE, at)) {
      machine.pay(WORK.stripAnsi);
      ANSI.lastIndex = at;
      if (ANSI.test(text)) {
        pieces.push(piece(text, start, at));
        start = ANSI.lastIndex;
        at = start;
      } else at++;
    }
    if (start === 0) return text;
    pieces.push(piece(text, start, text.length));
    return pieces.join('');
  },
};

const RETURN = 0x0d;

/** Sequences that control a terminal. No class matches the escape character, so every character is looked at once. */
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-Z\\^-~])/y;
const ESCAPE = '\x1b';

/** In pieces, so that the clocks are looked at between them. */
function normalized(machine: Meter, text: string, form: string): string {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    machine.pay(WORK.normalizePart);
    let end = start + PIECE;
    while (end < text.length && !standsAlone(text.charCodeAt(end))) end++;
    pieces.push(text.slice(start, end).normalize(form));
    start = end;
  }
  return pieces.join('');
}

/** Units that are normalized at once, and more where none stands alone. */
const PIECE = 4096;

/** Whether a character never changes with what is before it: all below the first combining mark, and the Chinese ones. */
function standsAlone(unit: number): boolean {
  return unit < 0x300 || (unit >= 0x4e00 && unit < 0xa000);
}

function characterSet(machine: Meter, characters: string): ReadonlySet<number> {
  machine.pay(WORK.characterSet, characters.length);
  const set = new Set<number>();
  for (let at = 0; at < characters.length; at += width(characters, at)) {
    machine.pay(WORK.item);
    set.add(characters.codePointAt(at) ?? 0);
  }
  machine.release(WORK.characterSet.bytes * characters.length);
  return set;
}

function substring(machine: Meter, text: string, start: number, length: number): Value {
  if (start < 0) machine.fail('Bounds', `start_index (${start}) cannot be negative`);
  if (length < 0) machine.fail('Bounds', `length (${length}) cannot be negative`);
  const from = characterOffset(machine, text, start);
  return part(machine, text, from, characterOffset(machine, text, length, from));
}

function find(machine: Meter, text: string, substring: string, from: number): number {
  const at = substring === '' ? from : new Needle(machine, substring).first(text, from);
  scan(machine, (at < 0 ? text.length : at) - from + substring.length);
  return at;
}

function charactersBefore(machine: Meter, text: string, offset: number): number {
  scan(machine, offset);
  let count = 0;
  for (let at = 0; at < offset; at += width(text, at)) payRound(machine, ++count);
  return count;
}

/** Items that are no texts count in their own text, nil as nothing. */
function join(machine: Meter, list: Value, separator: string, name: string): string {
  if (!(list instanceof List)) return machine.fail('Type', `${name} must be a list, got ${typeName(list)}`);
  machine.pay(WORK.visit, list.items.length);
  const text = new TextBuilder(machine, WORK.concat, 'text');
  for (const [index, item] of list.items.entries()) {
    machine.pay(WORK.join);
    if (index > 0) text.add(separator);
    if (item !== null) text.add(display(machine, item));
  }
  return text.finish();
}

function repeated(machine: Meter, text: string, count: number): string {
  const units = text.length * count;
  machine.allocateText(units);
  scan(machine, units);
  return units === 0 ? '' : text.repeat(count);
}

/** What is missing to a length in code points. */
function padding(machine: Meter, text: string, length: number, pad: string): string {
  const missing = length - machine.codePoints.count(text);
  if (missing <= 0) return '';
  const each = machine.codePoints.count(pad);
  if (each === 0) return machine.fail('InvalidValue', 'pad must not be empty');
  const whole = repeated(machine, pad, Math.floor(missing / each));
  machine.allocateText(whole.length + pad.length + text.length);
  return whole + pad.slice(0, characterOffset(machine, pad, missing % each));
}
