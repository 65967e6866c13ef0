import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../context/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { ToolError } from './define/define.ts';
import { Handles } from './handles.ts';

/**
 * What tools keep for one session, or for one run outside of any: a directory and the objects behind handles. Nothing is made
 * before it is asked for, and everything goes when the session ends.
 */
export class Belongings {
  readonly handles = new Handles();
  readonly #base: string;
  readonly #logger: Logger;
  #directory: Promise<string> | null = null;
  #ended: Promise<void> | null = null;

  /** `base` is the directory in which the sandbox directory is made; the logger hears what cannot be ended. */
  constructor(base: string, logger: Logger) {
    this.#base = base;
    this.#logger = logger;
  }

  /**
   * The session's own directory, empty at first, readable by this user alone: an absolute path without symbolic links. Rejects
   * with {@link ToolError} 26 when it cannot be made, 19 after the end.
   */
  sandboxDir(): Promise<string> {
    if (this.#ended !== null)
      return Promise.reject(new ToolError(NS_CODES.PreconditionFailed, 'the session has ended, and its directory is gone'));
    this.#directory ??= this.#make();
    return this.#directory;
  }

  /** Removes the directory with all that is in it, and ends what the handles stand for. Idempotent; rejects as the file system does. */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #make(): Promise<string> {
    try {
      return await realpath(await mkdtemp(join(this.#base, 'neuroscript-')));
    } catch (cause) {
      this.#directory = null;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new ToolError(NS_CODES.IOFailed, `the sandbox directory cannot be made: ${reason}`, undefined, { cause });
    }
  }

  async #end(): Promise<void> {
    const made = this.#directory;
    await this.handles.end(this.#logger);
    if (made === null) return;
    const path = await made.catch(() => null);
    if (path !== null) await rm(path, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Most sessions that have belongings at the same time. */
const MAX_SESSIONS = 10_000;

/** The belongings of all sessions of a runtime. */
export class SessionBelongings {
  readonly #base: string;
  readonly #sessions = new Map<string, Belongings>();

  /** In the system's directory for temporary files when no `base` is given. */
  constructor(base: string = tmpdir()) {
    this.#base = base;
  }

  /** Those of a session. Throws {@link ToolError} 37 when 10 000 sessions have some that nobody has ended. */
  of(sessionId: string, logger: Logger): Belongings {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    if (this.#sessions.size >= MAX_SESSIONS)
      throw new ToolError(NS_CODES.ResourceExhaustion, `there are ${MAX_SESSIONS} sessions with files or handles already`);
    const made = this.alone(logger);
    this.#sessions.set(sessionId, made);
    return made;
  }

  /** Those of something that is no session; whoever asks ends them. */
  alone(logger: Logger): Belongings {
    return new Belongings(this.#base, logger);
  }

  /** Ends those of a session that has ended; one of the same id begins with nothing. */
  async end(sessionId: string): Promise<void> {
    const known = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await known?.end();
  }

  /** Ends those of all sessions. */
  async close(): Promise<void> {
    const ids = [...this.#sessions.keys()];
    await Promise.all(ids.map((id) => this.end(id)));
  }
}
