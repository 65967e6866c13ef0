/** The `./grammar` entry point: parse NeuroScript source into an AST, lint it, estimate its cost, format it. */

export * from './estimate/index.ts';
export * from './format/index.ts';
export * from './lint/index.ts';
export * from './syntax/ast.ts';
export * from './syntax/diagnostic.ts';
export { type ParseOptions, type ParseResult, parse } from './syntax/parse.ts';
export { print } from './syntax/print.ts';
export { printExpression } from './syntax/printexpression.ts';
