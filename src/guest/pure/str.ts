import { isSpace, withoutSpace } from '../../wire/whitespace.ts';
import { display, List, payRound, plainSlice, TextBuilder, toNumeric, typeName, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Value } from '../values.ts';
import { folded, lower, upper } from './casing.ts';
import { characterOffset, charactersBefore, previousOffset, width } from './characters.ts';
import { bytesOf, fromBase64, fromHex, textOf, toBase64, toHex } from './codecs.ts';
import type { Group } from './define.ts';
import { inspect } from './inspect.ts';
import { parseJson } from './json.ts';
import { jsonText, plainIndent } from './jsontext.ts';
import { findAll, isMatch, replaceAll } from './regex.ts';
import { ListBuilder, paidSlice } from './results.ts';
import { split } from './split.ts';
import { occurrences, replaceText, SubstringSearch } from './substring.ts';

/** Strings: the tools of the reference implementation and more. All count in code points. */
export const STR: Group<'str'> = {
  'tool.str.Length': (meter, text) => meter.codePoints.count(text),
  'tool.str.Substring': substring,
  'tool.str.ToUpper': upper,
  'tool.str.ToLower': lower,
  'tool.str.TrimSpace': (meter, text) => {
    meter.pay(WORK.scan, text.length);
    const { start, end } = withoutSpace(text, () => meter.pay(WORK.textPart));
    return paidSlice(meter, text, start, end);
  },
  'tool.str.Trim': (meter, text, characters) => {
    const set = characterSet(meter, characters);
    meter.pay(WORK.scan, text.length);
    let start = 0;
    let end = text.length;
    let passed = 0;
    while (start < end && set.has(text.codePointAt(start) ?? 0)) {
      payRound(meter, ++passed);
      start += width(text, start);
    }
    while (end > start && set.has(text.codePointAt(previousOffset(text, end)) ?? 0)) {
      payRound(meter, ++passed);
      end = previousOffset(text, end);
    }
    meter.pay(WORK.character, passed);
    return paidSlice(meter, text, start, end);
  },
  'tool.str.TrimPrefix': (meter, text, prefix) => {
    meter.pay(WORK.affix, prefix.length);
    return text.startsWith(prefix) ? paidSlice(meter, text, prefix.length, text.length) : text;
  },
  'tool.str.TrimSuffix': (meter, text, suffix) => {
    meter.pay(WORK.affix, suffix.length);
    return text.endsWith(suffix) ? paidSlice(meter, text, 0, text.length - suffix.length) : text;
  },
  'tool.str.Split': (meter, text, delimiter) => {
    meter.pay(WORK.scan, text.length + delimiter.length);
    if (delimiter !== '') return split(meter, text, delimiter);
    const parts = new ListBuilder(meter);
    for (let at = 0; at < text.length; at += width(text, at)) parts.add(text, at, at + width(text, at));
    return parts.finish();
  },
  'tool.str.SplitWords': (meter, text) => {
    meter.pay(WORK.scan, text.length);
    const parts = new ListBuilder(meter);
    for (let at = 0; at < text.length; ) {
      while (at < text.length && isSpace(text.charCodeAt(at))) payRound(meter, ++at);
      const start = at;
      while (at < text.length && !isSpace(text.charCodeAt(at))) payRound(meter, ++at);
      if (at > start) parts.add(text, start, at);
    }
    return parts.finish();
  },
  'tool.str.Lines': (meter, text) => {
    meter.pay(WORK.scan, text.length);
    const parts = new ListBuilder(meter);
    for (let start = 0; start < text.length; ) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      parts.add(text, start, end > start && text.charCodeAt(end - 1) === RETURN && feed >= 0 ? end - 1 : end);
      start = end + 1;
    }
    return parts.finish();
  },
  'tool.str.LineCount': (meter, text) => {
    meter.pay(WORK.slowScan, text.length);
    let lines = text === '' || text.endsWith('\n') ? 0 : 1;
    for (let start = 0; start < text.length; start += PIECE) {
      const stop = Math.min(text.length, start + PIECE);
      let feeds = 0;
      for (let at = start; at < stop; at++) if (text.charCodeAt(at) === FEED) feeds++;
      meter.pay(WORK.item, feeds);
      lines += feeds;
    }
    return lines;
  },
  'tool.str.Join': (meter, list, separator) => join(meter, list, separator, 'string_list'),
  'tool.str.Concat': (meter, list) => join(meter, list, '', 'strings_list'),
  'tool.str.Replace': replaceText,
  'tool.str.Contains': (meter, text, substring) => find(meter, text, substring, 0) >= 0,
  'tool.str.HasPrefix': (meter, text, prefix) => {
    meter.pay(WORK.affix, prefix.length);
    return text.startsWith(prefix);
  },
  'tool.str.HasSuffix': (meter, text, suffix) => {
    meter.pay(WORK.affix, suffix.length);
    return text.endsWith(suffix);
  },
  'tool.str.IndexOf': (meter, text, substring, start) => {
    if (start < 0) meter.fail('Bounds', `start_index (${start}) cannot be negative`);
    const at = find(meter, text, substring, characterOffset(meter, text, start));
    return at < 0 ? -1 : charactersBefore(meter, text, at);
  },
  'tool.str.LastIndexOf': (meter, text, substring) => {
    meter.pay(WORK.scan, text.length + substring.length);
    const at = substring === '' ? text.length : new SubstringSearch(meter, substring).last(text);
    return at < 0 ? -1 : charactersBefore(meter, text, at);
  },
  'tool.str.Count': (meter, text, substring) => {
    if (substring === '') return meter.codePoints.count(text) + 1;
    let count = 0;
    const next = occurrences(meter, text, substring);
    while (next() >= 0) count++;
    return count;
  },
  'tool.str.EqualFold': (meter, left, right) => folded(meter, left) === folded(meter, right),
  'tool.str.Repeat': (meter, text, count) => {
    if (count < 0) meter.fail('Bounds', `count (${count}) cannot be negative`);
    return repeated(meter, text, count);
  },
  'tool.str.PadLeft': (meter, text, length, pad) => padding(meter, text, length, pad) + text,
  'tool.str.PadRight': (meter, text, length, pad) => text + padding(meter, text, length, pad),
  'tool.str.Normalize': (meter, text, form) => {
    if (form !== 'NFC' && form !== 'NFD' && form !== 'NFKC' && form !== 'NFKD')
      return meter.fail('InvalidValue', `form must be NFC, NFD, NFKC or NFKD, got "${form.slice(0, 20)}"`);
    checkMarks(meter, text);
    meter.pay(WORK.normalize, text.length);
    const made = normalized(meter, text, form);
    meter.release(WORK.normalize.bytes * text.length);
    meter.allocateText(made.length);
    return made;
  },
  'tool.str.ToNumber': (meter, text) => toNumeric(meter, text) ?? null,
  'tool.str.ToBase64': (meter, text) => toBase64(meter, bytesOf(meter, text)),
  'tool.str.FromBase64': (meter, text) => textOf(meter, fromBase64(meter, text)),
  'tool.str.BytesToBase64': (meter, text) => toBase64(meter, bytesOf(meter, text)),
  'tool.str.BytesFromBase64': (meter, text) => textOf(meter, fromBase64(meter, text)),
  'tool.str.ToHex': (meter, text) => toHex(meter, bytesOf(meter, text)),
  'tool.str.FromHex': (meter, text) => textOf(meter, fromHex(meter, text)),
  'tool.str.ParseJsonString': parseJson,
  'tool.str.ParseFromJsonBase64': (meter, text) => parseJson(meter, textOf(meter, fromBase64(meter, text))),
  'tool.str.ToJsonString': (meter, value, pretty, prefix, indent) => {
    if (!(value instanceof List) && typeName(value) !== 'map')
      return meter.fail(
        'Type',
        `ToJsonString takes a map or a list, got ${typeName(value)}`,
        'tool.json.Stringify takes any value',
      );
    return jsonText(meter, value, pretty ? { first: `\n${prefix}`, step: indent } : plainIndent);
  },
  'tool.str.MatchRegex': isMatch,
  'tool.str.FindAllRegex': (meter, pattern, text) => findAll(meter, pattern, text, -1),
  'tool.str.ReplaceRegex': (meter, pattern, text, replacement) => replaceAll(meter, pattern, text, replacement, -1),
  'tool.str.Inspect': inspect,
  'tool.str.StripAnsi': (meter, text) => {
    meter.pay(WORK.text, text.length);
    meter.allocateText(text.length);
    const pieces: string[] = [];
    let start = 0;
    for (let at = text.indexOf(ESCAPE); at >= 0; at = text.indexOf(ESCAPE, at)) {
      meter.pay(WORK.stripAnsi);
      ANSI.lastIndex = at;
      if (ANSI.test(text)) {
        pieces.push(plainSlice(text, start, at));
        start = ANSI.lastIndex;
        at = start;
      } else at++;
    }
    if (start === 0) return text;
    pieces.push(plainSlice(text, start, text.length));
    return pieces.join('');
  },
};

const FEED = 0x0a;
const RETURN = 0x0d;

/** Terminal control sequences. No class matches the escape character, so the pattern reads every character once. */
const ANSI = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[ -/]*[0-OQ-Z\\^-~])/y;
const ESCAPE = '\x1b';

/** Normalizes in parts, so that the clocks are checked between them. */
function normalized(meter: Meter, text: string, form: string): string {
  const pieces: string[] = [];
  for (let start = 0; start < text.length; ) {
    meter.pay(WORK.normalizePart);
    let end = start + PIECE;
    while (end < text.length && !standsAlone(text.charCodeAt(end))) end++;
    pieces.push(text.slice(start, end).normalize(form));
    start = end;
  }
  return pieces.join('');
}

/** Units of a text that are paid for together. A part to be normalized may be longer: it ends where a character stands alone. */
const PIECE = 4096;

/** Tells whether a character never combines with the one before it: those below the first combining mark, and Chinese ones. */
function standsAlone(unit: number): boolean {
  return unit < 0x300 || (unit >= 0x4e00 && unit < 0xa000);
}

function characterSet(meter: Meter, characters: string): ReadonlySet<number> {
  meter.pay(WORK.characterSet, characters.length);
  const set = new Set<number>();
  for (let at = 0; at < characters.length; at += width(characters, at)) {
    meter.pay(WORK.item);
    set.add(characters.codePointAt(at) ?? 0);
  }
  meter.release(WORK.characterSet.bytes * characters.length);
  return set;
}

function substring(meter: Meter, text: string, start: number, length: number): Value {
  if (start < 0) meter.fail('Bounds', `start_index (${start}) cannot be negative`);
  if (length < 0) meter.fail('Bounds', `length (${length}) cannot be negative`);
  const from = characterOffset(meter, text, start);
  return paidSlice(meter, text, from, characterOffset(meter, text, length, from));
}

function find(meter: Meter, text: string, substring: string, from: number): number {
  const at = substring === '' ? from : new SubstringSearch(meter, substring).first(text, from);
  meter.pay(WORK.scan, (at < 0 ? text.length : at) - from + substring.length);
  return at;
}

/** Joins items. Items that are not strings are converted; nil becomes an empty string. */
function join(meter: Meter, list: Value, separator: string, name: string): string {
  if (!(list instanceof List)) return meter.fail('Type', `${name} must be a list, got ${typeName(list)}`);
  meter.pay(WORK.visit, list.items.length);
  const text = new TextBuilder(meter, WORK.concat, 'text');
  for (const [index, item] of list.items.entries()) {
    meter.pay(WORK.join);
    if (index > 0) text.add(separator);
    if (item !== null) text.add(display(meter, item));
  }
  return text.finish();
}

function repeated(meter: Meter, text: string, count: number): string {
  const units = text.length * count;
  meter.allocateText(units);
  meter.pay(WORK.repeat, units);
  return units === 0 ? '' : text.repeat(count);
}

/** The padding that a text needs to reach a length in code points. */
function padding(meter: Meter, text: string, length: number, pad: string): string {
  const missing = length - meter.codePoints.count(text);
  if (missing <= 0) return '';
  const each = meter.codePoints.count(pad);
  if (each === 0) return meter.fail('InvalidValue', 'pad must not be empty');
  const whole = repeated(meter, pad, Math.floor(missing / each));
  meter.allocateText(whole.length + pad.length + text.length);
  return whole + pad.slice(0, characterOffset(meter, pad, missing % each));
}

/** Maximum number of combining marks in a row. No script has as many, and V8 sorts them in quadratic time. */
const MAX_MARKS = 64;

const MARK = /\p{M}/u;
/** The first combining mark of Unicode. */
const FIRST_MARK = 0x300;

/** Fails with code 41 for a run of marks that would keep V8 busy for seconds. One sample per `MAX_MARKS` units finds such a run. */
function checkMarks(meter: Meter, text: string): void {
  for (let at = 0; at < text.length; at += MAX_MARKS) {
    const sample = previousOffset(text, at + 1);
    const end = afterMarks(text, sample);
    if (end === sample) continue;
    meter.pay(WORK.visit);
    let marks = 0;
    for (let start = end; start > 0 && isMark(text, previousOffset(text, start)); start = previousOffset(text, start))
      if (++marks > MAX_MARKS)
        meter.fail('InvalidValue', `the text has more than ${MAX_MARKS} combining marks in a row`, 'no script has as many');
    at = end;
  }
}

/** The end of the marks that begin at an offset; it stops after one more than `MAX_MARKS`. */
function afterMarks(text: string, offset: number): number {
  let at = offset;
  for (let marks = 0; marks <= MAX_MARKS && at < text.length && isMark(text, at); marks++) at += width(text, at);
  return at;
}

function isMark(text: string, at: number): boolean {
  const code = text.codePointAt(at) ?? 0;
  return code >= FIRST_MARK && MARK.test(String.fromCodePoint(code));
}
