import { excess, putEntry, shortQuote, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Dict, List, Value } from '../values.ts';
import { textOfUnits, width } from './characters.ts';
import type { Group } from './define.ts';
import { compile, type Program } from './pattern/program.ts';
import { Search } from './pattern/search.ts';
import { PatternError, parsePattern } from './pattern/syntax.ts';
import { ListBuilder, listOf, newMap, paidSlice } from './results.ts';

/** Regular expressions in RE2 syntax. Matching takes linear time and is paid step by step. */
export const REGEX: Group<'regex'> = {
  'tool.regex.Match': isMatch,
  'tool.regex.Find': (meter, pattern, text) => {
    const program = compiled(meter, pattern);
    for (const match of matches(meter, program, text, 1, true)) return found(meter, program, text, match);
    return null;
  },
  'tool.regex.FindAll': findAll,
  'tool.regex.Groups': (meter, pattern, text, limit) => {
    const all = new ListBuilder(meter);
    for (const match of matches(meter, compiled(meter, pattern), text, limit, true))
      all.value(groupsOf(meter, text, match.groups(), 0));
    return all.finish();
  },
  'tool.regex.Replace': replaceAll,
  'tool.regex.Split': (meter, pattern, text, limit) => {
    const parts = new ListBuilder(meter);
    if (limit === 0) return parts.finish();
    let start = 0;
    if (text === '' && pattern !== '') {
      parts.add(text, 0, 0);
      return parts.finish();
    }
    let end = 0;
    for (const match of matches(meter, compiled(meter, pattern), text, limit, false)) {
      if (limit > 0 && parts.count === limit - 1) break;
      end = match.start;
      const after = match.end;
      if (after !== 0) parts.add(text, start, end);
      start = after;
    }
    if (end !== text.length) parts.add(text, start, text.length);
    return parts.finish();
  },
  'tool.regex.Escape': (meter, text) => {
    meter.allocateText(2 * text.length);
    meter.pay(WORK.text, text.length);
    const pieces: string[] = [];
    const units = new Uint16Array(2 * PIECE);
    for (let start = 0; start < text.length; start += PIECE) {
      meter.pay(WORK.rewrite, PIECE);
      const stop = Math.min(text.length, start + PIECE);
      let count = 0;
      for (let at = start; at < stop; at++) {
        const unit = text.charCodeAt(at);
        if (unit < 0x80 && SPECIAL[unit] === 1) units[count++] = BACKSLASH;
        units[count++] = unit;
      }
      pieces.push(textOfUnits(units, count));
    }
    return pieces.join('');
  },
};

const BACKSLASH = 0x5c;
/** Of each ASCII character: 1 if it has a meaning of its own in a pattern. A table, because V8 replaces by a pattern slowly in a locked realm. */
const SPECIAL = Uint8Array.from({ length: 0x80 }, (_, unit) => ('\\.+*?()|[]{}^$'.includes(String.fromCharCode(unit)) ? 1 : 0));
/** The number of units that are escaped and paid for together. */
const PIECE = 1024;

/** Tells whether a pattern matches anywhere in a text. */
export function isMatch(meter: Meter, pattern: string, text: string): boolean {
  for (const _ of matches(meter, compiled(meter, pattern), text, 1, false)) return true;
  return false;
}

/** The texts of the first `limit` matches, or of all for a negative limit. */
export function findAll(meter: Meter, pattern: string, text: string, limit: number): List {
  const all = new ListBuilder(meter);
  const program = compiled(meter, pattern);
  for (const match of matches(meter, program, text, limit, false, all)) all.add(text, match.start, match.end);
  return all.finish();
}

/** Replaces matches. `$1` and `${name}` in the replacement stand for groups, `$$` for a dollar sign. */
export function replaceAll(meter: Meter, pattern: string, text: string, replacement: string, limit: number): string {
  const program = compiled(meter, pattern);
  const template = expansion(meter, program, replacement);
  const asksGroups = template.some((each) => typeof each === 'number' && each > 0);
  const made = new TextBuilder(meter, WORK.concat, 'text');
  let start = 0;
  for (const match of matches(meter, program, text, limit, true)) {
    made.addSlice(text, start, match.start);
    const groups = asksGroups ? match.groups() : [match.start, match.end];
    for (const each of template) {
      if (typeof each === 'string') made.add(each);
      else made.addSlice(text, Math.max(0, groups[2 * each] ?? 0), Math.max(0, groups[2 * each + 1] ?? 0));
    }
    start = match.end;
  }
  made.addSlice(text, start, text.length);
  return made.finish();
}

const PLACE = /\$(?:(\$)|\{(\w+)\}|(\w+))/g;

/** Splits a replacement into texts and group numbers. A group that the pattern does not have is omitted. */
function expansion(meter: Meter, { groups }: Program, replacement: string): readonly (string | number)[] {
  meter.pay(WORK.scan, replacement.length);
  const pieces: (string | number)[] = [];
  let start = 0;
  for (const place of replacement.matchAll(PLACE)) {
    meter.pay(WORK.expandGroup);
    if (place.index > start) pieces.push(replacement.slice(start, place.index));
    start = place.index + place[0].length;
    const name = place[2] ?? place[3] ?? '';
    if (place[1] !== undefined) pieces.push('$');
    else {
      const group = /^\d+$/.test(name) ? Number(name) : groups.indexOf(name) + 1;
      meter.pay(WORK.groupName, groups.length);
      if (group <= groups.length && (group > 0 || /^0+$/.test(name))) pieces.push(group);
    }
  }
  if (start < replacement.length) pieces.push(replacement.slice(start));
  return pieces;
}

/**
 * Yields the search at matches from left to right that do not overlap. An empty match directly after another match does not count. Matches
 * that it can add to a `list` together are not yielded.
 */
function* matches(
  meter: Meter,
  program: Program,
  text: string,
  limit: number,
  groups: boolean,
  list?: ListBuilder,
): Generator<Search, void> {
  const search = new Search(meter, program, text, groups);
  let at = 0;
  let last = -1;
  try {
    for (let count = 0; (limit < 0 || count < limit) && at <= text.length; ) {
      const swept = list === undefined ? 0 : search.sweep(at, limit < 0 ? text.length : limit - count, list);
      if (swept > 0) {
        count += swept;
        at = search.end;
        last = at;
        continue;
      }
      if (!search.from(at)) break;
      const { start, end } = search;
      const touches = start === end && start === last;
      if (end > at) at = end;
      else at += width(text, at);
      last = end;
      meter.pay(WORK.visit);
      if (touches) continue;
      count++;
      yield search;
    }
  } finally {
    search.settle();
  }
  search.finish();
}

/** The groups of a match as texts, starting with group `first`. A group that did not take part is nil. */
function groupsOf(meter: Meter, text: string, match: Int32Array, first: number): List {
  const groups: Value[] = [];
  for (let index = first; 2 * index < match.length; index++) {
    const start = match[2 * index] ?? -1;
    groups.push(start < 0 ? null : paidSlice(meter, text, start, match[2 * index + 1] ?? start));
  }
  return listOf(meter, groups);
}

function found(meter: Meter, program: Program, text: string, match: Search): Dict {
  const { start, end } = match;
  const before = meter.codePoints.count(text.slice(0, start));
  const groups = groupsOf(meter, text, match.groups(), 1);
  const named = newMap(meter);
  for (const [index, name] of program.groups.entries())
    if (name !== '') putEntry(meter, named, name, groups.items[index] ?? null);
  const whole = paidSlice(meter, text, start, end);
  const map = newMap(meter);
  putEntry(meter, map, 'text', whole);
  putEntry(meter, map, 'start', before);
  putEntry(meter, map, 'end', before + meter.codePoints.count(whole));
  putEntry(meter, map, 'groups', groups);
  putEntry(meter, map, 'named', named);
  return map;
}

/** Maximum length of a pattern, in UTF-16 units. */
const MAX_PATTERN = 10_000;
/** How many compiled patterns a run caches, and the maximum number of instructions of a cached one. */
const CACHE_SIZE = 8;
const CACHED_LENGTH = 500;

const cache = new WeakMap<Meter, Map<string, Program>>();

/** Compiles a pattern, or takes it from the cache. Fails with code 41 for an invalid pattern. */
function compiled(meter: Meter, pattern: string): Program {
  let programs = cache.get(meter);
  if (programs === undefined) {
    programs = new Map();
    cache.set(meter, programs);
  }
  const known = programs.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN) meter.fail('InvalidValue', excess('the pattern has', pattern.length, 'units', MAX_PATTERN));
  meter.pay(WORK.compilePattern, pattern.length);
  const program = parsed(meter, pattern);
  meter.pay(WORK.match, program.code.length);
  if (program.code.length > CACHED_LENGTH) return program;
  programs.set(pattern, program);
  for (const oldest of programs.keys()) {
    if (programs.size <= CACHE_SIZE) break;
    programs.delete(oldest);
  }
  return program;
}

function parsed(meter: Meter, pattern: string): Program {
  try {
    return compile(parsePattern(pattern));
  } catch (thrown) {
    if (thrown instanceof PatternError)
      return meter.fail('InvalidValue', `${shortQuote(pattern)} is not a pattern: ${thrown.problem}`);
    throw thrown;
  }
}
