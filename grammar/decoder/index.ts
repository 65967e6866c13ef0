/** Grammars for decoders, under which a model can only write programs of the language. */
import { expressions } from './expressions.ts';
import { either, RuleBook, type Rules } from './form.ts';
import { lexis } from './lexis.ts';
import { written } from './notation.ts';
import { small } from './small.ts';
import { FILE_SCOPES, file, statements } from './statements.ts';
import { type DecoderTool, toolCalls } from './toolcalls.ts';
import { TURN_SCOPES, turn } from './turn.ts';

export type { DecoderTool, LiteralKind, LiteralType } from './toolcalls.ts';

export interface DecoderGrammar {
  /** The tools that can be called; null for any tool. */
  readonly tools: readonly DecoderTool[] | null;
  /** `file`: command blocks or definitions; `turn`: the reply of an agent, an envelope whose program emits a token last. */
  readonly whole: 'file' | 'turn';
  /** One command block of the plainest statements, in one layout. */
  readonly small?: boolean;
}

export function decoderRules({ tools, whole, small: plain = false }: DecoderGrammar): Rules {
  const envelope = whole === 'turn';
  if (plain) {
    const rules = new RuleBook();
    small(rules, tools, envelope);
    return rules.finish();
  }
  // A file may choose the dialect of strings in its header, which a turn does not have.
  const rules = dialect(tools, envelope, false);
  return envelope ? rules : either(rules, dialect(tools, false, true));
}

function dialect(tools: readonly DecoderTool[] | null, envelope: boolean, doubleBrackets: boolean): Rules {
  const rules = new RuleBook();
  const calls = tools === null || tools.length > 0;
  const words = lexis(rules, envelope, doubleBrackets);
  if (calls) toolCalls(rules, words, tools);
  expressions(rules, words, { envelope, calls });
  statements(rules, words, envelope ? TURN_SCOPES : FILE_SCOPES, calls);
  if (envelope) turn(rules, words);
  else file(rules, words);
  return rules.finish();
}

/** The grammar as text, with notes at the top. */
export function decoderGrammar(grammar: DecoderGrammar, notes: readonly string[] = []): string {
  return written(decoderRules(grammar), notes);
}
