import { isMonstrous } from '../files/json.ts';
import type { Line } from '../files/lines.ts';
import { messageOf } from '../wire/unknown.ts';

/** The id of a request, which its answer repeats. */
export type MessageId = string | number;

/** What a line of a peer says. */
export type Message =
  /** A request, or a notification if it has no id. */
  | { readonly kind: 'call'; readonly id: MessageId | null; readonly method: string; readonly params: unknown }
  /** The answer to a request of ours. */
  | { readonly kind: 'answer'; readonly id: MessageId; readonly result: unknown; readonly error: unknown }
  /** No message. `id` is that of the line, if it has one. */
  | { readonly kind: 'invalid'; readonly id: MessageId | null; readonly code: number; readonly problem: string };

/** The codes of JSON-RPC 2.0, and those of this protocol (below -32000). */
export const RPC = {
  parse: -32700,
  invalid: -32600,
  unknownMethod: -32601,
  params: -32602,
  internal: -32603,
  /** The request cannot be served; `data.code` says why. */
  refused: -32000,
  /** A request before `initialize`. */
  uninitialized: -32002,
} as const;

export const MESSAGE_BYTES = 16 * 1024 * 1024;

/** The id of a text that is not parsed, if it is the second member, as in what most clients write. */
function idOf(text: string): MessageId | null {
  try {
    return asId(JSON.parse(`${text.slice(0, 200).split(',', 2).join(',')}}`).id);
  } catch {
    return null;
  }
}

function asId(id: unknown): MessageId | null {
  return typeof id === 'string' || Number.isSafeInteger(id) ? (id as MessageId) : null;
}

/** Reads one line. Never throws. */
export function readMessage(line: Line): Message {
  const invalid = (code: number, problem: string, id: MessageId | null = null): Message => ({
    kind: 'invalid',
    id,
    code,
    problem,
  });
  if (line === null) return invalid(RPC.invalid, `the message has more than ${MESSAGE_BYTES} bytes`);
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(line);
  } catch {
    return invalid(RPC.parse, 'the message is not UTF-8 text');
  }
  if (isMonstrous(text)) return invalid(RPC.invalid, 'the message nests too deep, or has too many values', idOf(text));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return invalid(RPC.parse, `the message is not JSON: ${messageOf(error)}`);
  }
  if (Array.isArray(value)) return invalid(RPC.invalid, 'a line has one message; batches are not supported');
  if (typeof value !== 'object' || value === null) return invalid(RPC.invalid, 'a message is an object');
  const { jsonrpc, id, method, params, result, error }: Readonly<Record<string, unknown>> = { ...value };
  const named = asId(id);
  if (jsonrpc !== '2.0') return invalid(RPC.invalid, 'a message has "jsonrpc": "2.0"', named);
  if (id !== undefined && named === null) return invalid(RPC.invalid, 'an id is a text or a whole number');
  if (typeof method === 'string') return { kind: 'call', id: named, method, params };
  if (named !== null && (result !== undefined || error !== undefined)) return { kind: 'answer', id: named, result, error };
  return invalid(RPC.invalid, 'a message has a method, a result or an error', named);
}
