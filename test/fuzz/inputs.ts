import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { KEYWORDS } from '../../grammar/vocabulary/keywords.ts';
import { readChunks } from '../conformance/chunks.ts';
import { program } from './programs.ts';
import type { Random } from './random.ts';

/** An input of the fuzzer: text, or bytes that may not be text. */
export type Input = string | Uint8Array;

/** The ways of making an input. */
export const KINDS = ['bytes', 'characters', 'soup', 'mutant', 'program'] as const;
export type Kind = (typeof KINDS)[number];

const CORPUS = new URL('corpus/', import.meta.url).pathname;
const CONFORMANCE = new URL('../conformance/', import.meta.url).pathname;

/** The texts that mutants are made from: the corpus and every program of the conformance suite. */
export function seeds(): readonly string[] {
  const conformance = readdirSync(CONFORMANCE, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ns'))
    .flatMap((name) => readChunks(join(CONFORMANCE, name)).map(({ source }) => source));
  return [...corpus().map(({ text }) => text), ...conformance];
}

/** The files of the corpus: inputs that once caused trouble or easily could. */
export function corpus(): readonly { readonly name: string; readonly text: string }[] {
  return readdirSync(CORPUS).map((name) => ({ name, text: readFileSync(join(CORPUS, name), 'utf8') }));
}

export function makeInput(random: Random, kind: Kind, from: readonly string[]): Input {
  switch (kind) {
    case 'bytes':
      return Uint8Array.from(random.several(200, () => random.int(256)));
    case 'characters':
      return random.several(120, () => random.pick(CHARACTERS)).join('');
    case 'soup':
      return soup(random);
    case 'mutant':
      return mutant(random, from);
    case 'program':
      return program(random);
  }
}

const CHARACTERS = [
  ...'()[]{}"\'`\\:.,=+-*/%&|^~<>@#! \n\t\r\0 \u00a0\u200b\ufeff\ud800\udc00\u2028é😀aZ09_',
  ...['{{', '}}', '```', "'''", '[[', ']]', '::', '\\\n', '\r\n', '\\u', '\\x4'],
];

const TOKENS: readonly string[] = [
  ...KEYWORDS,
  ...'x y self null elif'.split(' '),
  ...[
    '1',
    '2.5',
    '1e3',
    '1e400',
    "'a'",
    '"b\\n"',
    '```c {{x}}```',
    "'''d'''",
    '{{x}}',
    '{{',
    '}}',
    '[[',
    ']]',
    '# c\n',
    '-- c\n',
    ':: k: v\n',
    '\\\n',
  ],
  ...'( ) [ ] { } , . : = + - * / % ** & | ^ ~ == != < > <= >= @'.split(' '),
  ...['\n', '\n', '\n', '\n'],
];

function soup(random: Random): string {
  const gap = random.pick([' ', ' ', '', '\n']);
  return random.several(60, () => random.pick(TOKENS)).join(gap);
}

/** A damaged seed: cut, repeated, swapped, or mixed with another. */
function mutant(random: Random, from: readonly string[]): string {
  let text = random.pick(from);
  for (let times = random.pick([1, 1, 1, 2, 2, 3, 6]); times > 0; times--)
    text = MUTATIONS[random.int(MUTATIONS.length)]?.(text, random, from) ?? text;
  return text.slice(0, 20_000);
}

type Mutation = (text: string, random: Random, from: readonly string[]) => string;

const MUTATIONS: readonly Mutation[] = [
  (text, random) => replaced(text, random, ''),
  (text, random) => inserted(text, random, random.pick(TOKENS)),
  (text, random) => inserted(text, random, ` ${random.pick(TOKENS)} `),
  (text, random) => inserted(text, random, random.pick(CHARACTERS)),
  (text, random) => replaced(text, random, random.pick(TOKENS)),
  (text, random) => text.slice(0, random.int(text.length + 1)),
  (text, random) => inserted(text, random, slice(text, random).repeat(1 + random.int(20))),
  (text, random, from) => inserted(text, random, slice(random.pick(from), random)),
  swappedLines,
  (text, random) =>
    inserted(text, random, random.pick(['(', '[', '{', 'not ', '- ', 'if 1\n', '{{', 'f(', '1 ** ']).repeat(1 + random.int(300))),
];

function inserted(text: string, random: Random, piece: string): string {
  const at = random.int(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at);
}

function replaced(text: string, random: Random, piece: string): string {
  const at = random.int(text.length + 1);
  return text.slice(0, at) + piece + text.slice(at + random.int(12));
}

function slice(text: string, random: Random): string {
  const at = random.int(text.length + 1);
  return text.slice(at, at + random.int(60));
}

function swappedLines(text: string, random: Random): string {
  const lines = text.split('\n');
  const [a, b] = [random.int(lines.length), random.int(lines.length)];
  const [first, second] = [lines[a] ?? '', lines[b] ?? ''];
  lines[a] = second;
  lines[b] = first;
  return lines.join('\n');
}
