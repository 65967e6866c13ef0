import { messageOf } from '../../wire/unknown.ts';
import type { Agent, AgentReply } from './agent.ts';

/** One request to an agent with its outcome, for people who want to read what a model was told and replied. */
export interface TranscriptEntry {
  /** Id of the session. */
  readonly sid: string;
  /** Number of the turn, from 1. */
  readonly turn: number;
  /** Number of this request for the turn, from 1. */
  readonly attempt: number;
  /** Name of the agent; null when it has none. */
  readonly agent: string | null;
  /** Unix milliseconds. */
  readonly askedAt: number;
  /** Elapsed milliseconds of the request. */
  readonly ms: number;
  /** The system text of the request. */
  readonly system: string;
  /** The envelope of the request. */
  readonly prompt: string;
  /** Null when there is no reply; `error` then says why. */
  readonly reply: string | null;
  /** Model tokens of prompt and reply; null when they are not known. */
  readonly tokens: number | null;
  /** Why there is no reply; null when there is one. */
  readonly error: string | null;
}

/**
 * Wraps an agent so that `sink` receives every request with its outcome before the reply is used. If the sink throws, `reply`
 * throws the same error. Prompts and replies contain what programs emitted, so protect a transcript like program output.
 */
export function transcribed(agent: Agent, sink: (entry: TranscriptEntry) => void | Promise<void>): Agent {
  return {
    name: agent.name,
    model: agent.model,
    price: agent.price,
    fixed: agent.fixed,
    async reply(request) {
      const { sid, turn, attempt, system, prompt } = request;
      const askedAt = Date.now();
      const begun = performance.now();
      const asked = { sid, turn, attempt, agent: agent.name ?? null, askedAt, system, prompt };
      const ms = () => Math.round(performance.now() - begun);
      let reply: string | AgentReply;
      try {
        reply = await agent.reply(request);
      } catch (error) {
        await sink({ ...asked, ms: ms(), reply: null, tokens: null, error: messageOf(error) });
        throw error;
      }
      const { text, tokens } = typeof reply === 'string' ? { text: reply, tokens: null } : reply;
      await sink({ ...asked, ms: ms(), reply: text, tokens, error: null });
      return reply;
    },
  };
}
