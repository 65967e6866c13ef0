/** What a decoder pays for a grammar: compiling it, and a mask over a vocabulary before each token. */
import { readFileSync } from 'node:fs';
import { decoderGrammar } from '../../../grammar/decoder/index.ts';
import { programReply } from '../../../src/loop/index.ts';
import { toolGrammar } from '../../../src/tools/index.ts';
import { pureTools } from '../../../stdlib-tools/index.ts';
import { type Matcher, matcherOf } from './xgrammar.ts';

/** Most tokens of the vocabulary, the size of a small model's. */
const SIZE = 32_000;

const BODY = `  set words = ["b", "a"]
  for each w in words
    emit w + 1
  endfor
  if len(words) > 1
    emit tool.str.Length("abc")
  endif
`;
const PROGRAM = `command\n${BODY}endcommand\n`;
const REPLY = programReply(`command\n${BODY}  emit tool.aeiou.magic("LOOP", {"action": "done"})\nendcommand`);

/** The rows of a table in Markdown. */
export async function maskRows(corpus: readonly string[], ascii: readonly string[]): Promise<readonly string[]> {
  const tokens = vocabulary(corpus, ascii);
  const tools = pureTools();
  const rows = [
    `| grammar | bytes | compiled, ms | tokens allowed of ${tokens.length}, median | most | mask, ms, median | most |`,
  ];
  for (const [name, text, followed] of [
    ['program, any tool', decoderGrammar({ tools: null, whole: 'file' }), PROGRAM],
    [`program, ${tools.length} tools`, toolGrammar(tools), PROGRAM],
    [`turn, ${tools.length} tools`, toolGrammar(tools, { of: 'turn' }), REPLY],
    [`small program, ${tools.length} tools`, toolGrammar(tools, { small: true }), PROGRAM],
    [`small turn, ${tools.length} tools`, toolGrammar(tools, { of: 'turn', small: true }), REPLY],
  ] as const) {
    const { matcher, ms } = await matcherOf(text, tokens);
    const masks = await follow(matcher, followed, tokens);
    const allowed = masks.map(({ allowed }) => allowed);
    const times = masks.map(({ ms }) => ms);
    const figures = [median(allowed), Math.max(...allowed), median(times).toFixed(2), Math.max(...times).toFixed(2)];
    rows.push(`| ${[name, text.length, Math.round(ms), ...figures].join(' | ')} |`);
  }
  return rows;
}

/** The mask before each token of a text, which is split into the longest tokens. */
async function follow(
  matcher: Matcher,
  text: string,
  tokens: readonly string[],
): Promise<readonly { readonly allowed: number; readonly ms: number }[]> {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const masks: { readonly allowed: number; readonly ms: number }[] = [];
  for (let at = 0; at < text.length; ) {
    let size = 12;
    while (size > 1 && !ids.has(text.slice(at, at + size))) size--;
    const token = text.slice(at, at + size);
    const begun = performance.now();
    const mask = await matcher.getNextTokenBitmask();
    masks.push({ ms: performance.now() - begun, allowed: bits(mask) });
    if (!matcher.acceptToken(ids.get(token) ?? 0)) throw new Error(`refused at ${JSON.stringify(text.slice(at))}`);
    at += size;
  }
  return masks;
}

/** The most frequent pieces of the texts of this repository. */
function vocabulary(corpus: readonly string[], ascii: readonly string[]): readonly string[] {
  const counts = new Map<string, number>();
  const pages = ['docs/language.md', 'docs/tools.md', 'docs/stdlib.md', 'README.md'].map((page) =>
    readFileSync(new URL(`../../../${page}`, import.meta.url), 'utf8'),
  );
  for (const text of [...corpus, ...pages])
    for (const [word] of text.matchAll(/ ?[A-Za-z_]+| ?[0-9]+|\s+| ?[^\sA-Za-z0-9_]+/g))
      for (let s = 0; s < Math.min(word.length, 12); s++)
        for (let e = s + 2; e <= Math.min(word.length, s + 12); e++)
          counts.set(word.slice(s, e), (counts.get(word.slice(s, e)) ?? 0) + 1);
  const frequent = [...counts].sort(([a, m], [b, n]) => n * b.length - m * a.length).map(([piece]) => piece);
  return [...ascii, ...frequent.slice(0, SIZE - ascii.length)];
}

function bits(mask: Int32Array): number {
  return mask.reduce((sum, word) => sum + (word >>> 0).toString(2).replaceAll('0', '').length, 0);
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? 0;
}
