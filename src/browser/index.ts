/**
 * The language in a page or on a host without native code: check, format and run programs. Entry point `neuroscript-runtime/browser`.
 * The interpreter is that of the sandbox and gives the same output and the same fuel. Nothing but the interpreter separates a program from the page: see {@link runInPage}.
 */

export { analyse, format, type Lexeme, type LexemeKind, lexemesOf, parse } from '../../grammar/index.ts';
export type { ErrorInfo } from '../wire/errors.ts';
export type { EventError, EventInput, TaggedJson, Whisper } from '../wire/protocol.ts';
export type { Diagnostic } from '../wire/sourcereports.ts';
export type { Value } from '../wire/values.ts';
export { type PageResult, type PageRunOptions, runInPage } from './engine.ts';
export { type PageCall, type PageTool, PageToolError } from './host.ts';
