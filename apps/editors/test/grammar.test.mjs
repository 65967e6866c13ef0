// The TextMate grammar gives every token of the corpus the colour of what the lexer says that it is.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import oniguruma from 'vscode-oniguruma';
import textmate from 'vscode-textmate';
import { lexemesOf, parse } from '../../../grammar/index.ts';
import { CORPUS } from '../../../test/lsp/corpus.ts';

/** What a scope begins with, by the kind of lexeme. */
const SCOPES = {
  keyword: ['keyword.', 'constant.language', 'variable.language', 'support.function.builtin'],
  name: ['variable.other', 'entity.name.function', 'support.function.builtin', 'variable.parameter'],
  number: ['constant.numeric'],
  string: ['string.quoted', 'constant.character'],
  text: ['string.template', 'constant.character'],
  placeholder: ['punctuation.section.embedded'],
  operator: ['keyword.operator'],
  punctuation: ['punctuation'],
  metadata: ['meta.preprocessor'],
  comment: ['comment.line'],
};

const require = createRequire(import.meta.url);
await oniguruma.loadWASM(readFileSync(require.resolve('vscode-oniguruma/release/onig.wasm')));
const path = new URL('../vscode/syntaxes/neuroscript.tmLanguage.json', import.meta.url);
const WRITTEN = readFileSync(path, 'utf8');

/** Loads a grammar from its text. */
async function load(text) {
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (line) => new oniguruma.OnigString(line),
    }),
    loadGrammar: async () => textmate.parseRawGrammar(text, path.pathname),
  });
  return await registry.loadGrammar('source.neuroscript');
}

/** The scopes of each character of a text, innermost last. */
function scopesOf(grammar, text) {
  const scopes = [];
  let state = textmate.INITIAL;
  for (const line of text.split('\n')) {
    const { tokens, ruleStack } = grammar.tokenizeLine(line, state);
    for (const token of tokens)
      for (let at = token.startIndex; at < Math.min(token.endIndex, line.length); at++) scopes.push(token.scopes);
    scopes.push(['source.neuroscript']);
    state = ruleStack;
  }
  return scopes;
}

function kindOf(scopes) {
  return scopes.at(-1) === 'source.neuroscript' || scopes.at(-1) === 'meta.embedded.neuroscript' ? '' : (scopes.at(-1) ?? '');
}

/** The tokens of the corpus, and those whose colour is not of their kind. */
function compare(grammar) {
  let tokens = 0;
  const wrong = [];
  for (const text of CORPUS) {
    const parsed = parse(text, { name: '' });
    if (!parsed.ok) continue;
    const scopes = scopesOf(grammar, parsed.text);
    for (const { kind, image, s, e } of lexemesOf(parsed.text)) {
      tokens += 1;
      for (let at = s; at < e; at++) {
        if (/\s/.test(parsed.text.charAt(at))) continue;
        const scope = kindOf(scopes[at] ?? []);
        if (SCOPES[kind].some((begin) => scope.startsWith(begin))) continue;
        wrong.push(
          `${kind} ${JSON.stringify(image)} is ${scope}: ${JSON.stringify(parsed.text.slice(Math.max(0, s - 30), e + 20))}`,
        );
        break;
      }
    }
  }
  return { tokens, wrong };
}

test('the TextMate grammar agrees with the lexer on every token of the corpus', async () => {
  const { tokens, wrong } = compare(await load(WRITTEN));
  assert.deepEqual(wrong.slice(0, 20), []);
  assert.ok(tokens > 10_000, `only ${tokens} tokens`);
});

test('the comparison sees a grammar that does not know one keyword', async () => {
  const { wrong } = compare(await load(WRITTEN.replace('|whisper|', '|')));
  assert.ok(wrong.length > 0);
  assert.ok(wrong.every((each) => each.startsWith('keyword "whisper"')));
});
