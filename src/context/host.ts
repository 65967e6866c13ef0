import { ConfigError, type ErrorInfo } from '../wire/errors.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { LineReader, type LineSource } from './lines.ts';

/** A structured logger of pino's shape: an object of fields first, then the sentence. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** On whose behalf a script runs, for longer than any session. */
export interface Actor {
  /** For instance a DID. Never empty. */
  readonly id: string;
  readonly name?: string;
  readonly kind?: 'user' | 'agent' | 'system';
}

/** Something with `write`, such as a Node stream. */
export interface TextSink {
  write(text: string): unknown;
}

/** What an embedding application connects its scripts to. Only the logger is mandatory. */
export interface HostContextInit {
  readonly logger: Logger;
  /** Read by `promptuser`; without it `promptuser` is code 26 (P35). */
  readonly stdin?: LineSource;
  /** `promptuser` writes its question here; tools may write. */
  readonly stdout?: TextSink;
  readonly stderr?: TextSink;
  /** Called for every `emit` outside of turns: the value as tagged JSON, and its text. */
  readonly emit?: (value: TaggedJson, text: string) => void;
  /** Called for every `whisper` outside of turns: the target's text form, and the text. */
  readonly whisper?: (to: string, text: string) => void;
  /** Called when a handler of an event fails; the run itself stays fine. */
  readonly onEventError?: (event: string, source: string, error: ErrorInfo) => void;
  readonly actor?: Actor;
}

/**
 * The connection of a root interpreter and all its forks to the world (seed 004, 2.A): made once, frozen, and the same
 * object in every fork.
 */
export interface HostContext {
  readonly logger: Logger;
  readonly stdin: LineReader | null;
  readonly stdout: TextSink | null;
  readonly stderr: TextSink | null;
  readonly emit: ((value: TaggedJson, text: string) => void) | null;
  readonly whisper: ((to: string, text: string) => void) | null;
  readonly onEventError: ((event: string, source: string, error: ErrorInfo) => void) | null;
  readonly actor: Actor | null;
}

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
const CALLBACKS = ['emit', 'whisper', 'onEventError'] as const;

/** Says nothing; for applications that want no log. */
export const SILENT_LOGGER: Logger = Object.freeze({ debug() {}, info() {}, warn() {}, error() {} });

/**
 * Checks and freezes. The streams and the logger stay the application's own objects; the context holds frozen handles on
 * them, so that no tool can exchange a method. Throws one {@link ConfigError} (`ERR_CONFIG`) that lists every problem.
 */
export function createHostContext(init: HostContextInit): HostContext {
  const problems = problemsOf(init);
  if (problems.length > 0) throw new ConfigError(`the host context cannot be made: ${problems.join('; ')}`);
  const { logger, actor, stdin } = init;
  const context = Object.freeze({
    logger: Object.freeze({
      debug: logger.debug.bind(logger),
      info: logger.info.bind(logger),
      warn: logger.warn.bind(logger),
      error: logger.error.bind(logger),
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

/** Whether this came out of {@link createHostContext}, as opposed to the fields for one. */
export function isHostContext(value: HostContext | HostContextInit): value is HostContext {
  return made.has(value);
}

function sink(target: TextSink | undefined): TextSink | null {
  return target === undefined ? null : Object.freeze({ write: (text: string) => target.write(text) });
}

/** Read as unknown: applications in plain JavaScript come through here too. */
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
