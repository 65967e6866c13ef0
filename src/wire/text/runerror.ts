import { clipped } from '../clip.ts';
import type { ErrorInfo, ErrorKind, StackFrame } from '../errors.ts';
import type { Source } from '../protocol.ts';
import type { Diagnostic } from '../sourcereports.ts';
import { renderEnd } from './failure.ts';
import { plainPalette } from './palette.ts';

/** Longest text of an error, in UTF-16 units. */
const MAX_TEXT = 8000;
/** Most syntax errors that the text of one error shows. */
const MAX_ERRORS = 10;

/**
 * The failure of a run with its {@link text}, as a result has it. `String(error)` is the text, and JSON has it as well; a copy of the
 * fields is a plain `ErrorInfo`.
 */
export class RunError implements ErrorInfo {
  declare readonly kind: ErrorKind;
  declare readonly code: string;
  declare readonly nsCode: number | null;
  declare readonly name: string;
  declare readonly message: string;
  declare readonly source: string | null;
  declare readonly line: number | null;
  declare readonly column: number | null;
  declare readonly hint?: string | undefined;
  declare readonly stack: readonly StackFrame[];
  declare readonly limit?: string;
  declare readonly allowed?: number;
  declare readonly used?: number | undefined;
  readonly #sources: readonly Source[];
  readonly #errors: readonly Diagnostic[];

  /** `sources` are those of the run, and `errors` all syntax errors when the error is the first of them. */
  constructor(info: ErrorInfo, sources: readonly Source[], errors: readonly Diagnostic[] = []) {
    Object.assign(this, info);
    this.#sources = sources;
    this.#errors = errors;
  }

  /** A failure that has no text yet, without the texts of sources. */
  static of(info: ErrorInfo): RunError {
    return info instanceof RunError ? info : new RunError(info, []);
  }

  /**
   * The failure as the command line prints it, without colours: place, message and code, the line with a caret, the hint, the limit that
   * was reached, the stack; for syntax errors the first ten of them. At most 8,000 UTF-16 units.
   */
  get text(): string {
    const texts = new Map(this.#sources.map(({ name, text }) => [name, text]));
    const text = renderEnd(this, this.#errors, texts, plainPalette, MAX_ERRORS).join('\n');
    return text.length <= MAX_TEXT ? text : `${clipped(text, MAX_TEXT - 1)}…`;
  }

  /** The same failure with other fields. */
  with(change: Partial<ErrorInfo>): RunError {
    return new RunError({ ...this, ...change }, this.#sources, this.#errors);
  }

  /** The same as {@link text}. */
  toString(): string {
    return this.text;
  }

  /** The fields with the text. */
  toJSON(): ErrorInfo & { readonly text: string } {
    return { ...this, text: this.text };
  }
}
