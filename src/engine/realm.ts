import * as flow from '../guest/flow/index.ts';
import { boot } from '../guest/main.ts';
import * as probe from '../guest/probe.ts';
import * as pure from '../guest/pure/index.ts';
import * as together from '../guest/together.ts';
import type {
  BranchEnd,
  GuestCall,
  GuestFrame,
  GuestInput,
  GuestReply,
  GuestResult,
  OutFrame,
  TaggedJson,
  TogetherFrame,
  ToolGuestCall,
  Whisper,
} from '../wire/protocol.ts';

/** A frame that the interpreter sends for an answer: calls, or what a variable is that the host asked for. */
export type Question = Exclude<GuestFrame, { readonly t: 'out' | 'probe' }>;
/** A report about a measured run. */
export type Report = Extract<GuestFrame, { readonly t: 'probe' }>;

/** The host's side of a program in this realm. The interpreter cannot wait, so everything is answered at once. */
export interface RealmPort {
  /** Takes output. `follows`: the next frame, or the end, comes at once. */
  onOut(out: OutFrame, follows: boolean): void;
  /** Answers a call, calls that run together, or what a variable is. */
  answer(question: Question): GuestReply;
  /** Takes a report about a measured run; other runs send none. */
  onReport?(report: Report): void;
  /** As for `boot`; without it no time limit ends the program. */
  readonly clock?: ((measured?: boolean) => number) | undefined;
  /** The JSON of a part of a file; not needed when the input has whole trees. */
  readonly tree?: (file: number, part: number) => string;
}

/**
 * Runs a program in this realm to its end: the interpreter of the sandbox, without worker and isolate. `input` is a `GuestInput`, or its JSON.
 * Only the interpreter keeps the program within its limits.
 */
export function runInRealm(input: GuestInput | string, port: RealmPort): GuestResult {
  const host = (text: string, follows = false): string => {
    const frame: GuestFrame = JSON.parse(text);
    if (frame.t !== 'out' && frame.t !== 'probe') return JSON.stringify(port.answer(frame));
    if (frame.t === 'out') port.onOut(frame, follows);
    else port.onReport?.(frame);
    return '';
  };
  const run = boot(port.clock ?? (() => 0), host, port.tree ?? (() => ''));
  const json = typeof input === 'string' ? input : JSON.stringify(input);
  const loads = [() => pure, () => flow, () => probe, () => together] as const;
  return JSON.parse(run(json, ...loads));
}

/** All that a program sends out, in order. */
export class Gathered {
  readonly emits: string[] = [];
  readonly values: TaggedJson[] = [];
  readonly whispers: Whisper[] = [];

  add({ emits, values, whispers }: OutFrame): void {
    this.emits.push(...emits);
    this.values.push(...values);
    this.whispers.push(...whispers);
  }
}

/** The end of a call that no host must wait for. */
export type CallEnd = Extract<GuestReply, { readonly t: 'ok' | 'error' }>;

/** The reply to calls that run together, one after the other: in the frame they have no type of their own. */
export function endsOf({ calls }: TogetherFrame, answer: (call: ToolCall) => CallEnd): GuestReply {
  const endOf = (call: ToolGuestCall): BranchEnd => {
    const reply = answer({ ...call, t: 'tool' });
    const { labels } = reply;
    return reply.t === 'ok' ? { value: reply.value, labels } : { code: reply.code, message: reply.message, labels };
  };
  return { t: 'all', ends: calls.map(endOf) };
}

type ToolCall = Extract<GuestCall, { readonly t: 'tool' }>;
