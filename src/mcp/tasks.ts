import { parsedJson } from '../files/json.ts';
import { clipped } from '../wire/clip.ts';
import { isRecord } from '../wire/unknown.ts';
import { plainWords } from './serverschema.ts';

/** The name of the extension, in the capabilities of both sides, from protocol version 2026-07-28 on. */
export const TASKS_EXTENSION = 'io.modelcontextprotocol/tasks';

/** A server's promise to answer a call later. */
export interface McpTask {
  readonly id: string;
  /** The same field as in an answer. A task has not failed yet. */
  readonly isError: false;
  readonly status: string;
  /** The server's progress message, not cleaned. */
  readonly words: string;
  /** Milliseconds until the next poll, as the server wishes. */
  readonly pollMs: number;
  /** Milliseconds for which the server keeps the result; null if it does not say. */
  readonly keptMs: number | null;
  /** The message as the server sent it: the result, the error and the requests for input of some versions. */
  readonly raw: Readonly<Record<string, unknown>>;
}

/** Bounds of the time between two polls, in milliseconds. */
const [SHORTEST_POLL_MS, LONGEST_POLL_MS] = [50, 5000];
const POLL_MS = 1000;
/** Longest id of a task, in characters of its JSON, and of the name of a tool beside it: the reason of a waiting turn holds both. */
const [MAX_ID, MAX_NAME] = [200, 100];

/** Reads a task in the form of either version; null for anything else. */
export function readTask(value: unknown): McpTask | null {
  if (!isRecord(value)) return null;
  const { taskId: id, status, statusMessage, pollIntervalMs, pollInterval, ttlMs, ttl } = value;
  if (typeof id !== 'string' || JSON.stringify(id).length > MAX_ID || typeof status !== 'string') return null;
  const poll = numberOf(pollIntervalMs) ?? numberOf(pollInterval) ?? POLL_MS;
  return {
    id,
    isError: false,
    status,
    words: typeof statusMessage === 'string' ? statusMessage : '',
    pollMs: Math.min(Math.max(poll, SHORTEST_POLL_MS), LONGEST_POLL_MS),
    keptMs: numberOf(ttlMs) ?? numberOf(ttl),
    raw: value,
  };
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : null;
}

/** The key under which {@link carryTask} puts a task. */
const CARRIED = 'neuroscript-runtime/task';

/**
 * Gives an answer of type `task` the form of a complete one, with the task under a separate key, because the library of the protocol
 * refuses unknown types. Other messages are unchanged.
 */
export function carryTask<Message>(message: Message): Message {
  if (!isRecord(message) || !isRecord(message['result']) || message['result']['resultType'] !== 'task') return message;
  const result = { resultType: 'complete', content: [], _meta: { [CARRIED]: message['result'] } };
  return { ...message, result };
}

/** The task that an answer carries; null for an answer of another kind. */
export function carriedTask(answer: unknown): McpTask | null {
  if (!isRecord(answer)) return null;
  // The previous version has the task under a separate key.
  return readTask(isRecord(answer['_meta']) ? answer['_meta'][CARRIED] : null) ?? readTask(answer['task']);
}

const BEFORE_ID = ' works on task ';

/** The reason of a turn that waits for a task. {@link taskIdIn} finds the id in it. */
export function waitingReason(server: string, tool: string, { id }: McpTask): string {
  return `tool '${clipped(plainWords(tool), MAX_NAME)}' of MCP server '${server}'${BEFORE_ID}${JSON.stringify(id)}`;
}

/** The id of the task for which a turn with this reason waits; null if it names none. The name of the tool and the id may hold any words. */
export function taskIdIn(reason: string): string | null {
  for (let at = reason.length; at > 0; ) {
    at = reason.lastIndexOf(BEFORE_ID, at - 1);
    const id = at < 0 ? null : parsedJson(reason.slice(at + BEFORE_ID.length));
    if (typeof id === 'string') return id;
  }
  return null;
}
