import { putEntry, shortQuote, TextBuilder, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Dict, List, Value } from '../values.ts';
import { listOf, newMap, Parts, part, piece, scan } from './charges.ts';
import type { Group } from './define.ts';
import { compile, type Program } from './pattern/program.ts';
import { type Match, Search } from './pattern/search.ts';
import { BadPattern, parsePattern } from './pattern/syntax.ts';
import { width } from './search.ts';

/** Patterns in the syntax of RE2, matched in linear time and paid for step by step. */
export const REGEX: Group<'regex'> = {
  'tool.regex.Match': isMatch,
  'tool.regex.Find': (machine, pattern, text) => {
    const program = compiled(machine, pattern);
    for (const match of matches(machine, program, text, 1, true)) return found(machine, program, text, match);
    return null;
  },
  'tool.regex.FindAll': findAll,
  'tool.regex.Groups': (machine, pattern, text, limit) => {
    const all = new Parts(machine);
    for (const match of matches(machine, compiled(machine, pattern), text, limit, true))
      all.value(groupsOf(machine, text, match, 0));
    return all.finish();
  },
  'tool.regex.Replace': replaceAll,
  'tool.regex.Split': (machine, pattern, text, limit) => {
    const parts = new Parts(machine);
    if (limit === 0) return parts.finish();
    let start = 0;
    if (text === '' && pattern !== '') {
      parts.add(text, 0, 0);
      return parts.finish();
    }
    let end = 0;
    for (const match of matches(machine, compiled(machine, pattern), text, limit, false)) {
      if (limit > 0 && parts.count === limit - 1) break;
      end = match[0] ?? 0;
      const after = match[1] ?? 0;
      if (after !== 0) parts.add(text, start, end);
      start = after;
    }
    if (end !== text.length) parts.add(text, start, text.length);
    return parts.finish();
  },
  'tool.regex.Escape': (machine, text) => {
    machine.allocateText(2 * text.length);
    machine.pay(WORK.text, text.length);
    const pieces: string[] = [];
    for (let start = 0; start < text.length; start += PIECE) {
      machine.pay(WORK.rewrite, PIECE);
      pieces.push(text.slice(start, start + PIECE).replace(SPECIAL, '\\$&'));
    }
    return pieces.join('');
  },
};

/** What stands for more than itself in a pattern. */
const SPECIAL = /[\\.+*?()|[\]{}^$]/g;
/** Units that are escaped between two looks at how long it takes. */
const PIECE = 1024;

/** Whether a pattern matches somewhere in a text. */
export function isMatch(machine: Meter, pattern: string, text: string): boolean {
  for (const _ of matches(machine, compiled(machine, pattern), text, 1, false)) return true;
  return false;
}

/** The texts of all matches, or of so many from the left. */
export function findAll(machine: Meter, pattern: string, text: string, limit: number): List {
  const all = new Parts(machine);
  for (const match of matches(machine, compiled(machine, pattern), text, limit, false))
    all.add(text, match[0] ?? 0, match[1] ?? 0);
  return all.finish();
}

/** Replaces matches; `$1` and `${name}` in the replacement stand for groups, `$$` for a dollar. */
export function replaceAll(machine: Meter, pattern: string, text: string, replacement: string, limit: number): string {
  const program = compiled(machine, pattern);
  const template = expansion(machine, program, replacement);
  const made = new TextBuilder(machine, WORK.concat, 'text');
  let start = 0;
  for (const match of matches(machine, program, text, limit, true)) {
    if ((match[0] ?? 0) > start) made.add(piece(text, start, match[0] ?? 0));
    for (const each of template) {
      if (typeof each === 'string') made.add(each);
      else made.add(piece(text, Math.max(0, match[2 * each] ?? 0), Math.max(0, match[2 * each + 1] ?? 0)));
    }
    start = match[1] ?? 0;
  }
  if (start < text.length) made.add(piece(text, start, text.length));
  return made.finish();
}

const PLACE = /\$(?:(\$)|\{(\w+)\}|(\w+))/g;

/** A replacement as texts and numbers of groups. A group that the pattern does not have is nothing. */
function expansion(machine: Meter, { groups }: Program, replacement: string): readonly (string | number)[] {
  scan(machine, replacement.length);
  const pieces: (string | number)[] = [];
  let start = 0;
  for (const place of replacement.matchAll(PLACE)) {
    machine.pay(WORK.expandGroup);
    if (place.index > start) pieces.push(replacement.slice(start, place.index));
    start = place.index + place[0].length;
    const name = place[2] ?? place[3] ?? '';
    if (place[1] !== undefined) pieces.push('$');
    else {
      const group = /^\d+$/.test(name) ? Number(name) : groups.indexOf(name) + 1;
      machine.pay(WORK.groupName, groups.length);
      if (group <= groups.length && (group > 0 || /^0+$/.test(name))) pieces.push(group);
    }
  }
  if (start < replacement.length) pieces.push(replacement.slice(start));
  return pieces;
}

/** Matches from left to right, none within another; an empty one right behind another match is none. */
function* matches(machine: Meter, program: Program, text: string, limit: number, groups: boolean): Generator<Match, void> {
  const search = new Search(machine, program, text, groups);
  let at = 0;
  let last = -1;
  try {
    for (let count = 0; (limit < 0 || count < limit) && at <= text.length; ) {
      const match = search.from(at);
      if (match === null) break;
      const start = match[0] ?? 0;
      const end = match[1] ?? 0;
      const touches = start === end && start === last;
      if (end > at) at = end;
      else at += width(text, at);
      last = end;
      machine.pay(WORK.visit);
      if (touches) continue;
      count++;
      yield match;
    }
  } finally {
    search.leave();
  }
  search.end();
}

/** The groups of a match as texts, nil where one took no part, from the first given on. */
function groupsOf(machine: Meter, text: string, match: Match, first: number): List {
  const groups: Value[] = [];
  for (let index = first; 2 * index < match.length; index++) {
    const start = match[2 * index] ?? -1;
    groups.push(start < 0 ? null : part(machine, text, start, match[2 * index + 1] ?? start));
  }
  return listOf(machine, groups);
}

function found(machine: Meter, program: Program, text: string, match: Match): Dict {
  const start = match[0] ?? 0;
  const end = match[1] ?? 0;
  const before = machine.codePoints.count(text.slice(0, start));
  const groups = groupsOf(machine, text, match, 1);
  const named = newMap(machine);
  for (const [index, name] of program.groups.entries())
    if (name !== '') putEntry(machine, named, name, groups.items[index] ?? null);
  const whole = part(machine, text, start, end);
  const map = newMap(machine);
  putEntry(machine, map, 'text', whole);
  putEntry(machine, map, 'start', before);
  putEntry(machine, map, 'end', before + machine.codePoints.count(whole));
  putEntry(machine, map, 'groups', groups);
  putEntry(machine, map, 'named', named);
  return map;
}

/** Longest pattern, in UTF-16 units. */
const MAX_PATTERN = 10_000;
/** Programs that are remembered, and how long they may be. */
const MEMORY = 8;
const SHORT = 500;

const remembered = new WeakMap<Meter, Map<string, Program>>();

/** The program of a pattern. Code 41 for what is none. */
function compiled(machine: Meter, pattern: string): Program {
  let programs = remembered.get(machine);
  if (programs === undefined) {
    programs = new Map();
    remembered.set(machine, programs);
  }
  const known = programs.get(pattern);
  if (known !== undefined) return known;
  if (pattern.length > MAX_PATTERN)
    machine.fail('InvalidValue', `the pattern has ${pattern.length} units, ${MAX_PATTERN} are allowed`);
  machine.pay(WORK.compilePattern, pattern.length);
  const program = parsed(machine, pattern);
  machine.pay(WORK.match, program.code.length);
  if (program.code.length > SHORT) return program;
  programs.set(pattern, program);
  for (const oldest of programs.keys()) {
    if (programs.size <= MEMORY) break;
    programs.delete(oldest);
  }
  return program;
}

function parsed(machine: Meter, pattern: string): Program {
  try {
    return compile(parsePattern(pattern));
  } catch (thrown) {
    if (thrown instanceof BadPattern)
      return machine.fail('InvalidValue', `${shortQuote(pattern)} is no pattern: ${thrown.problem}`);
    throw thrown;
  }
}
