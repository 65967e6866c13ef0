import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../context/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { messageOf } from '../wire/unknown.ts';
import { ToolError } from './errors.ts';
import { Handles } from './handles.ts';

/**
 * The resources that tools keep for one session, or for one run outside of any session: a directory, and the objects behind
 * handles. Both are made at the first use and removed when the session ends.
 */
export class ToolResources {
  readonly handles = new Handles();
  /** Canonical names of the tools that were called successfully, for rules of order. */
  readonly called = new Set<string>();
  /** Labels of what programs have said, for rules about origin. */
  readonly said = new Set<string>();
  readonly #base: string;
  readonly #logger: Logger;
  #directory: Promise<string> | null = null;
  #ended: Promise<void> | null = null;

  /** `base` is the parent of the sandbox directory. The logger receives failures at the end. */
  constructor(base: string, logger: Logger) {
    this.#base = base;
    this.#logger = logger;
  }

  /**
   * The session's own directory: empty at first, readable by this user alone, an absolute path without symbolic links. Rejects with
   * {@link ToolError} 26 when it cannot be made, 19 after the end.
   */
  sandboxDir(): Promise<string> {
    if (this.#ended !== null)
      return Promise.reject(new ToolError(NS_CODES.PreconditionFailed, 'the session has ended, and its directory is gone'));
    this.#directory ??= this.#make();
    return this.#directory;
  }

  /** Removes the directory with its content, and disposes of the objects behind handles. Idempotent; rejects as the file system does. */
  end(): Promise<void> {
    this.#ended ??= this.#end();
    return this.#ended;
  }

  async #make(): Promise<string> {
    try {
      return await realpath(await mkdtemp(join(this.#base, 'neuroscript-')));
    } catch (cause) {
      this.#directory = null;
      throw new ToolError(NS_CODES.IOFailed, `the sandbox directory cannot be made: ${messageOf(cause)}`, undefined, { cause });
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

/** Most sessions that have resources at the same time. */
const MAX_SESSIONS = 10_000;

/** The resources of all sessions of a runtime. */
export class SessionResources {
  readonly #base: string;
  readonly #sessions = new Map<string, ToolResources>();

  /** `base` is the parent of all sandbox directories; the system's directory for temporary files when absent. */
  constructor(base: string = tmpdir()) {
    this.#base = base;
  }

  /** The resources of a session. Throws {@link ToolError} 37 when 10,000 sessions have resources already. */
  of(sessionId: string, logger: Logger): ToolResources {
    const known = this.#sessions.get(sessionId);
    if (known !== undefined) return known;
    if (this.#sessions.size >= MAX_SESSIONS)
      throw new ToolError(NS_CODES.ResourceExhaustion, `there are ${MAX_SESSIONS} sessions with files or handles already`);
    const made = this.unnamed(logger);
    this.#sessions.set(sessionId, made);
    return made;
  }

  /** Resources that belong to no session. The caller ends them. */
  unnamed(logger: Logger): ToolResources {
    return new ToolResources(this.#base, logger);
  }

  /** Ends a session; a later session of the same id starts without resources. Does nothing for a session without resources. */
  async end(sessionId: string): Promise<void> {
    const ended = this.#sessions.get(sessionId);
    this.#sessions.delete(sessionId);
    await ended?.end();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((sessionId) => this.end(sessionId)));
  }
}

/** The resources that one run uses: those of its session, or outside of any session its own, which end with the run. */
export class RunResources implements AsyncDisposable {
  readonly #sessions: SessionResources;
  readonly #sessionId: string | null;
  readonly #logger: Logger;
  #own: ToolResources | null = null;

  constructor(sessions: SessionResources, sessionId: string | null, logger: Logger) {
    this.#sessions = sessions;
    this.#sessionId = sessionId;
    this.#logger = logger;
  }

  get(): ToolResources {
    if (this.#sessionId !== null) return this.#sessions.of(this.#sessionId, this.#logger);
    this.#own ??= this.#sessions.unnamed(this.#logger);
    return this.#own;
  }

  /** A file that cannot be removed must not cost the result of the run: the failure goes to the log. */
  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#own?.end();
    } catch (error) {
      this.#logger.error({ error }, 'the sandbox directory of a run could not be removed');
    }
  }
}
