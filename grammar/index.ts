/** The `./grammar` entry point: parse NeuroScript source into an AST, lint it, estimate its cost, format it. */
export * from './ast.ts';
export * from './check/index.ts';
export * from './diagnostic.ts';
export * from './estimate/index.ts';
export * from './format/index.ts';
export { type ParseOptions, type ParseResult, parse } from './parse.ts';
export { print } from './print.ts';
export { printExpression } from './text.ts';
