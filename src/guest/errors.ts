import { positionAt } from '../../grammar/syntax/position.ts';
import { NS_CODES, type NsCodeName, nsCodeName } from '../wire/codes.ts';
import { MAX_MESSAGE_UNITS } from '../wire/costs.ts';
import type { ErrorInfo, StackFrame } from '../wire/errors.ts';
import type { LimitKey } from '../wire/limits.ts';
import { grouped } from '../wire/text/grouped.ts';
import type { LoadedFile } from './loadedfile.ts';

/** A place in a source: where an operation stands, or where something is defined. */
export interface Place {
  readonly file: LoadedFile;
  /** Offset in the cleaned source. */
  readonly at: number;
}

/** A stack frame before its position is worked out. */
export interface FramePlace extends Place {
  readonly name: string;
}

/**
 * An error that a script can catch. It is thrown but is not an `Error`: a script may raise millions, and their JavaScript stacks are not
 * needed. Code and place are those of the operation that failed.
 */
export class Failure {
  readonly code: number;
  readonly message: string;
  readonly hint: string | undefined;
  readonly place: Place | null;
  readonly stack: readonly FramePlace[];
  /** The frame whose handlers are offered this error, and the handler that got it last there. */
  frame: object | null = null;
  offered: object | null = null;
  /** The text that handlers see. Each of many handlers gets it, so it is put together once. */
  text: string | null = null;
  #info: ErrorInfo | null = null;

  constructor(code: number, message: string, hint: string | undefined, place: Place | null, stack: readonly FramePlace[]) {
    this.code = code;
    this.message = shorten(message, MAX_MESSAGE_UNITS);
    this.hint = hint;
    this.place = place;
    this.stack = stack;
  }

  /** As the result of the run, or of an event, shows it. Its positions are worked out once. */
  info(): ErrorInfo {
    this.#info ??= this.#located();
    return this.#info;
  }

  #located(): ErrorInfo {
    const { source, line, column } = placed(this.place);
    return {
      kind: this.code === NS_CODES.Policy ? 'policy' : 'runtime',
      code: `NS${this.code}`,
      nsCode: this.code,
      name: nsCodeName(this.code),
      message: this.message.toWellFormed(),
      source,
      line,
      column,
      hint: this.hint,
      stack: stackFrames(this.stack),
    };
  }
}

/** An end of the run that no script can catch: a quota, time, cancellation, a halt by the host. */
export class Stop {
  readonly info: ErrorInfo;
  constructor(info: ErrorInfo) {
    this.info = info;
  }
}

/** A defect of the interpreter or of its input. It ends the run with kind `internal`. */
export class InternalError extends Error {
  override readonly name = 'InternalError';
}

export interface Breach {
  readonly limit: LimitKey;
  readonly allowed: number;
  readonly used: number;
  readonly message: string;
  readonly hint?: string | undefined;
}

/** `ERR_QUOTA`, or `ERR_ENV_SIZE` for the size limits of a turn's output, or `ERR_TIMEOUT`. */
export function stop(
  code: 'ERR_QUOTA' | 'ERR_ENV_SIZE' | 'ERR_TIMEOUT',
  breach: Breach,
  place: Place | null,
  stack: readonly FramePlace[],
): Stop {
  const names = { ERR_QUOTA: 'Quota', ERR_ENV_SIZE: 'EnvelopeSize', ERR_TIMEOUT: 'Timeout' } as const;
  const { limit, allowed, used, message, hint } = breach;
  return new Stop({
    kind: code === 'ERR_TIMEOUT' ? 'timeout' : 'quota',
    code,
    nsCode: null,
    name: names[code],
    message,
    ...placed(place),
    hint,
    stack: stack.map(stackFrame),
    limit,
    allowed,
    used,
  });
}

/** An interpreter defect as the result of the run. */
export function internal(cause: unknown, place: Place | null): ErrorInfo {
  const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
  return {
    kind: 'internal',
    code: 'ERR_INTERNAL',
    nsCode: null,
    name: 'Internal',
    message: `the interpreter failed: ${shorten(text, 500)}`,
    ...placed(place),
    hint: 'this is a defect of the interpreter, not of the script; please report it with the script',
    stack: [],
  };
}

/** Whether V8 had no stack left for a call of the interpreter's own. */
export function isStackOverflow(thrown: unknown): boolean {
  return thrown instanceof RangeError && thrown.message === 'Maximum call stack size exceeded';
}

export function codeOf(name: NsCodeName): number {
  return NS_CODES[name];
}

/** A frame with its 1-based position. */
export function stackFrame({ name, file, at }: FramePlace): StackFrame {
  return { name, source: file.name, ...positionAt(file.lines, at) };
}

/** As {@link stackFrame}, for a stack. In a recursion, one frame after another is the same. */
function stackFrames(places: readonly FramePlace[]): readonly StackFrame[] {
  let before: FramePlace | undefined;
  let frame: StackFrame | undefined;
  return places.map((place) => {
    if (frame === undefined || place !== before) frame = stackFrame(place);
    before = place;
    return frame;
  });
}

function placed(place: Place | null): { source: string | null; line: number | null; column: number | null } {
  if (place === null) return { source: null, line: null, column: null };
  return { source: place.file.name, ...positionAt(place.file.lines, place.at) };
}

/** A text of about `most` units at most. It says how many units were cut off. */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const cut = text.charCodeAt(most - 1) >= 0xd800 && text.charCodeAt(most - 1) < 0xdc00 ? most - 1 : most;
  return `${text.slice(0, cut)}… (${grouped(text.length - cut)} more)`;
}
