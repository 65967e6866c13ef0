import { createHash } from 'node:crypto';
import { readdir, unlink } from 'node:fs/promises';
import { within } from './anchor.ts';
import { readBytes, replace, statOf } from './file.ts';
import { MARK } from './path.ts';

const MARK_BYTES = 64;

/**
 * A hidden file with the state that a keyed call found before it changed anything. When a process dies, the outcome of its last call is
 * unknown. The repeated call has the same key and finds the mark, so it can tell its own effect from the earlier state.
 */
export class CallMark {
  readonly #root: string;
  readonly #name: string;
  readonly #turn: string;
  /** The state that an earlier attempt at this call found; null for a first attempt. */
  readonly before: string | null;

  private constructor(root: string, names: MarkName, before: string | null) {
    this.#root = root;
    this.#name = names.name;
    this.#turn = names.turn;
    this.before = before;
  }

  /** Looks for the mark of a call. Null for a call without a key, because its repetition cannot be recognised. */
  static async find(root: string, key: string | null): Promise<CallMark | null> {
    if (key === null) return null;
    const names = markName(key);
    const before = await within(root, [], false, async (directory) => {
      if ((await statOf(directory, names.name)) === null) return null;
      return (await readBytes(directory, names.name, MARK_BYTES)).toString();
    });
    return new CallMark(root, names, before);
  }

  /** Stores the state that the call has found. Removes the marks of the session's earlier turns. */
  set(before: string): Promise<void> {
    return within(this.#root, [], false, async (directory) => {
      await replace(directory, this.#name, before);
      for (const name of await readdir(directory.here))
        if (this.#isEarlier(name)) await unlink(directory.at(name)).catch(() => {});
    });
  }

  #isEarlier(name: string): boolean {
    const session = this.#turn.slice(0, this.#turn.indexOf('.', MARK.length) + 1);
    return name.startsWith(session) && !name.startsWith(this.#turn);
  }
}

interface MarkName {
  /** The part that all calls of a turn share. */
  readonly turn: string;
  readonly name: string;
}

/** The name of a mark: session, turn, call. A key is `session/turn.call/digest`, and a session may have slashes in its name. */
function markName(key: string): MarkName {
  const parts = key.split('/');
  const session = short(parts.slice(0, -2).join('/'));
  const turn = `${MARK}${session}.${parts.at(-2)?.split('.')[0] ?? ''}.`;
  return { turn, name: `${turn}${short(key)}` };
}

function short(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}
