/** Loads XGrammar, a script for pages that its package calls a module, and describes what is used of it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { compileFunction, constants } from 'node:vm';

interface Grammar {
  dispose(): void;
}
interface Compiled {
  dispose(): void;
}
/** Follows a text under a compiled grammar. */
export interface Matcher {
  reset(): void;
  _acceptString(text: string): boolean;
  acceptToken(id: number): boolean;
  isTerminated(): boolean;
  getNextTokenBitmask(): Promise<Int32Array>;
}
interface XGrammar {
  readonly Grammar: { fromEBNF(text: string): Promise<Grammar> };
  readonly TokenizerInfo: { createTokenizerInfo(tokens: readonly string[], type: string, blank: boolean): Promise<object> };
  readonly GrammarCompiler: {
    createGrammarCompiler(tokenizer: object, cache: boolean): Promise<{ compileGrammar(grammar: Grammar): Promise<Compiled> }>;
  };
  readonly GrammarMatcher: { createGrammarMatcher(compiled: Compiled, stop: readonly number[], ends: boolean): Promise<Matcher> };
}

function load(): XGrammar {
  const file = createRequire(import.meta.url).resolve('@mlc-ai/web-xgrammar');
  const names = ['exports', 'module', 'require', '__filename', '__dirname'];
  const options = { importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER };
  const exports: Partial<XGrammar> = {};
  compileFunction(readFileSync(file, 'utf8'), names, options)(exports, { exports }, createRequire(file), file, dirname(file));
  const { Grammar, TokenizerInfo, GrammarCompiler, GrammarMatcher } = exports;
  if (Grammar === undefined || TokenizerInfo === undefined || GrammarCompiler === undefined || GrammarMatcher === undefined)
    throw new Error('this version of XGrammar has other names');
  return { Grammar, TokenizerInfo, GrammarCompiler, GrammarMatcher };
}

const xgrammar = load();

/** A matcher of a grammar over these tokens, of which the first ends a text, and how long making it took. */
export async function matcherOf(
  text: string,
  tokens: readonly string[],
): Promise<{ readonly matcher: Matcher; readonly ms: number }> {
  const tokenizer = await xgrammar.TokenizerInfo.createTokenizerInfo(tokens, 'raw', false);
  const compiler = await xgrammar.GrammarCompiler.createGrammarCompiler(tokenizer, false);
  const begun = performance.now();
  const compiled = await compiler.compileGrammar(await xgrammar.Grammar.fromEBNF(text));
  const ms = performance.now() - begun;
  return { matcher: await xgrammar.GrammarMatcher.createGrammarMatcher(compiled, [0], true), ms };
}

/** How many characters of a text a grammar takes one by one, and whether it is a whole text then. */
export function judge(matcher: Matcher, text: string): { readonly taken: number; readonly whole: boolean } {
  matcher.reset();
  let taken = 0;
  for (const char of text) {
    if (!matcher._acceptString(char)) return { taken, whole: false };
    taken += char.length;
  }
  return { taken, whole: matcher.isTerminated() };
}
