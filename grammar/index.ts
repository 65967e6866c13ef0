/** The `./grammar` entry point: parse NeuroScript source into an AST. */
export * from './ast.ts';
export * from './diagnostic.ts';
export { type ParseOptions, type ParseResult, parse } from './parse.ts';
export { print } from './print.ts';
export { printExpression } from './text.ts';
