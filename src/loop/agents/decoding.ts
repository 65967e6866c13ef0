import type { AgentRequest } from './agent.ts';

/**
 * A kind of server that decodes under a grammar, by how it takes one: llama.cpp (`grammar`), vLLM (`structured_outputs`), vLLM before
 * version 0.12 (`guided_grammar`), SGLang (`ebnf`).
 */
export type GrammarServer = 'llama.cpp' | 'vllm' | 'vllm-guided' | 'sglang';

/** The fields with which each kind of server takes a grammar. */
const FIELDS: { readonly [S in GrammarServer]: (grammar: string) => Fields } = {
  'llama.cpp': (grammar) => ({ grammar }),
  vllm: (grammar) => ({ structured_outputs: { grammar } }),
  'vllm-guided': (grammar) => ({ guided_grammar: grammar }),
  sglang: (grammar) => ({ ebnf: grammar }),
};

export type Fields = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

export const GRAMMAR_SERVERS: readonly GrammarServer[] = ['llama.cpp', 'vllm', 'vllm-guided', 'sglang'];

/** The fields that make a server decode under the grammar of a request. Throws when the request has none. */
export function decodingFields(server: GrammarServer | undefined, { grammar }: AgentRequest): Fields {
  if (server === undefined) return {};
  if (grammar === undefined) throw new Error('the agent needs a grammar; give the loop the option grammar');
  return FIELDS[server](grammar);
}
