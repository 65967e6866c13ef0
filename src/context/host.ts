import { callBack } from '../wire/callback.ts';
import { ConfigError, type ErrorInfo } from '../wire/errors.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { LineReader, type LineSource } from './lines.ts';

/** A structured logger with the signature of pino: an object of fields, then the message. */
export interface Logger {
  /** Logs details for debugging. */
  debug(fields: object, message: string): void;
  /** Logs an ordinary event. */
  info(fields: object, message: string): void;
  /** Logs an event that needs attention. */
  warn(fields: object, message: string): void;
  /** Logs a failure. */
  error(fields: object, message: string): void;
}

/** The person or system on whose behalf a script runs. An actor outlives sessions. */
export interface Actor {
  /** Not empty; for instance a DID. */
  readonly id: string;
  /** For people, in logs. */
  readonly name?: string;
  /** The kind of actor. */
  readonly kind?: 'user' | 'agent' | 'system';
}

/** An object with `write`, such as a Node stream. */
export interface TextSink {
  /** Takes a piece of text; what it returns is ignored. */
  write(text: string): unknown;
}

/** The connections that an embedding application gives to its scripts. Only the logger is mandatory. */
export interface HostContextInit {
  /** Receives the log of the runtime and of tools. */
  readonly logger: Logger;
  /** Read by `promptuser`, which fails with code 26 without it. */
  readonly stdin?: LineSource;
  /** `promptuser` writes its question here; tools may write here too. */
  readonly stdout?: TextSink;
  /** Where tools write diagnostics; nowhere when absent. */
  readonly stderr?: TextSink;
  /** Called for every `emit` outside a turn, with the value as tagged JSON and its text. */
  readonly emit?: (value: TaggedJson, text: string) => unknown;
  /** Called for every `whisper` outside a turn, with the text form of the target and the text. */
  readonly whisper?: (to: string, text: string) => unknown;
  /** Called when an event handler fails. Such a failure does not fail the run. */
  readonly onEventError?: (event: string, source: string, error: ErrorInfo) => unknown;
  /** The actor of all scripts; unknown when absent. */
  readonly actor?: Actor;
}

/** The connections of a root interpreter and all its forks to the world. It is made once, frozen and shared by every fork. */
export interface HostContext {
  /** Receives the log of the runtime and of tools. */
  readonly logger: Logger;
  /** Answers `promptuser`; null when absent. */
  readonly stdin: LineReader | null;
  /** Receives the questions of `promptuser`; null when absent. */
  readonly stdout: TextSink | null;
  /** Where tools write diagnostics; null for nowhere. */
  readonly stderr: TextSink | null;
  /** Receives every `emit` outside a turn as value and text; null when absent. */
  readonly emit: ((value: TaggedJson, text: string) => unknown) | null;
  /** Receives every whisper outside a turn; null when absent. */
  readonly whisper: ((to: string, text: string) => unknown) | null;
  /** Receives every error that an event handler did not clear; null when absent. */
  readonly onEventError: ((event: string, source: string, error: ErrorInfo) => unknown) | null;
  /** The actor of all scripts; null when it is unknown. */
  readonly actor: Actor | null;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const CALLBACKS = ['emit', 'whisper', 'onEventError'] as const;

/** A logger that discards everything. */
export const SILENT_LOGGER: Logger = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });

/**
 * Makes a frozen host context. It holds frozen wrappers of the logger and the streams, so that no tool can replace one of
 * their methods. Throws one {@link ConfigError} (`ERR_CONFIG`) that lists every problem.
 */
export function createHostContext(init: HostContextInit): HostContext {
  const problems = problemsOf(init);
  if (problems.length > 0) throw new ConfigError(`the host context cannot be made: ${problems.join('; ')}`);
  const { logger, actor, stdin } = init;
  const context = Object.freeze({
    logger: Object.freeze({
      debug: quiet((fields, message) => logger.debug(fields, message)),
      info: quiet((fields, message) => logger.info(fields, message)),
      warn: quiet((fields, message) => logger.warn(fields, message)),
      error: quiet((fields, message) => logger.error(fields, message)),
    }),
    stdin: stdin === undefined ? null : new LineReader(stdin),
    stdout: sink(init.stdout),
    stderr: sink(init.stderr),
    emit: init.emit ?? null,
    whisper: init.whisper ?? null,
    onEventError: init.onEventError ?? null,
    actor: actor === undefined ? null : Object.freeze({ ...actor }),
  });
  made.add(context);
  return context;
}

const made = new WeakSet<object>();

/** Whether a value is a context made by {@link createHostContext}, and not the fields for one. */
export function isHostContext(value: HostContext | HostContextInit): value is HostContext {
  return made.has(value);
}

/** A method of a logger. Its own failure cannot be logged, and does not break what it reports about. */
function quiet(log: Logger['info']): Logger['info'] {
  return (fields, message) =>
    callBack(
      () => log(fields, message),
      () => {},
    );
}

/** A sink whose `write` throws what the target throws. What it returns is ignored, a rejection too. */
function sink(target: TextSink | undefined): TextSink | null {
  if (target === undefined) return null;
  const write = (text: string): void => {
    const returned = target.write(text);
    callBack(
      () => returned,
      () => {},
    );
  };
  return Object.freeze({ write });
}

/** Takes `unknown` because applications in plain JavaScript may pass anything. */
function problemsOf(init: unknown): readonly string[] {
  if (!isObject(init)) return ['it needs an object with a logger'];
  const problems: string[] = [];
  const logger = init['logger'];
  if (!isObject(logger)) problems.push('logger is missing');
  else for (const level of LEVELS) if (typeof logger[level] !== 'function') problems.push(`logger.${level} must be a function`);
  const stdin = init['stdin'];
  if (stdin !== undefined && !(isObject(stdin) && (Symbol.asyncIterator in stdin || Symbol.iterator in stdin)))
    problems.push('stdin must be an async iterable of text or bytes');
  for (const name of ['stdout', 'stderr']) {
    const stream = init[name];
    if (stream !== undefined && !(isObject(stream) && typeof stream['write'] === 'function'))
      problems.push(`${name} must have a function write`);
  }
  for (const name of CALLBACKS)
    if (init[name] !== undefined && typeof init[name] !== 'function') problems.push(`${name} must be a function`);
  const actor = init['actor'];
  if (actor !== undefined && !(isObject(actor) && typeof actor['id'] === 'string' && actor['id'] !== ''))
    problems.push('actor.id must be a text that is not empty');
  const known = new Set(['logger', 'stdin', 'stdout', 'stderr', 'actor', ...CALLBACKS]);
  for (const key of Object.keys(init)) if (!known.has(key)) problems.push(`${key} is not a field of a host context`);
  return problems;
}

function isObject(value: unknown): value is Record<string | symbol, unknown> {
  return typeof value === 'object' && value !== null;
}
