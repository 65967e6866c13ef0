import { randomBytes } from 'node:crypto';
import type { Logger } from '../context/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { Handle } from '../wire/values.ts';
import { ToolError } from './errors.ts';

/** Most handles of one session at the same time. */
const MAX_HANDLES = 10_000;

/** 128 bits: a program that breaks out of its isolate cannot guess a handle that it was not given. */
const ID_BYTES = 16;

/**
 * Objects of the host that programs can refer to but not read: a connection, a cursor, a parsed file. They belong to one session, or to
 * one run outside of any session, and end with it.
 */
export class Handles {
  readonly #objects = new Map<string, { readonly kind: string; readonly object: object }>();
  #ended = false;

  /** The number of open handles. */
  get size(): number {
    return this.#objects.size;
  }

  /** A script value that stands for the object. Throws {@link ToolError} 37 when there are 10,000 already, 19 after the end. */
  create(kind: string, object: object): Handle {
    if (this.#ended) throw new ToolError(NS_CODES.PreconditionFailed, 'the session has ended, and its handles with it');
    if (this.#objects.size >= MAX_HANDLES)
      throw new ToolError(NS_CODES.ResourceExhaustion, `there are ${MAX_HANDLES} handles already; release some`);
    const id = randomBytes(ID_BYTES).toString('base64url');
    this.#objects.set(id, { kind, object });
    return new Handle(kind, id);
  }

  /** The object. Throws {@link ToolError} 9 for a handle of another kind, session or run, or one that was released. */
  get(handle: Handle, kind: string): object {
    const found = handle instanceof Handle ? this.#objects.get(handle.id) : undefined;
    if (found !== undefined && found.kind === kind && handle.kind === kind) return found.object;
    throw new ToolError(NS_CODES.KeyNotFound, `this is not a handle of kind '${kind}' that is open here`);
  }

  /** Removes an object without disposing of it, which is up to the caller. False for an unknown handle. */
  release(handle: Handle): boolean {
    return this.#objects.delete(handle.id);
  }

  /** Removes all objects, and disposes of those with `Symbol.asyncDispose` or `Symbol.dispose`. Logs their exceptions. */
  async end(logger: Logger): Promise<void> {
    this.#ended = true;
    const objects = [...this.#objects.values()].reverse();
    this.#objects.clear();
    for (const { kind, object } of objects) {
      try {
        await dispose(object);
      } catch (error) {
        logger.error({ error, kind }, 'an object behind a handle could not be ended');
      }
    }
  }
}

async function dispose(object: object): Promise<void> {
  const end: unknown = Reflect.get(object, Symbol.asyncDispose) ?? Reflect.get(object, Symbol.dispose);
  if (typeof end === 'function') await Reflect.apply(end, object, []);
}
