/** The `./grammar` entry point, also for other parts: parse NeuroScript source into an AST, lint it, estimate its cost, format it. */

export type { ForeseenScalar, ForeseenType } from './estimate/index.ts';
export { takesPlain } from './lint/logic.ts';
export { copiesVariable } from './lint/unseen.ts';
export * from './public.ts';
export { causesOf, oneBlock } from './repair/index.ts';
export { failingOperand } from './syntax/certainty.ts';
export { asksForDoubleBrackets } from './syntax/metadata.ts';
export { MAX_SOURCE_BYTES } from './syntax/parse.ts';
