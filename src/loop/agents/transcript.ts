import type { Agent, AgentReply } from './agent.ts';

/** One asking of an agent, complete: for people who want to see what a model was told, and what it said. */
export interface AskedRecord {
  readonly sid: string;
  readonly turn: number;
  readonly attempt: number;
  readonly agent: string | null;
  /** Unix milliseconds. */
  readonly askedAt: number;
  readonly ms: number;
  readonly system: string;
  readonly prompt: string;
  /** Null when there was none; then `error` says why. */
  readonly reply: string | null;
  readonly tokens: number | null;
  readonly error: string | null;
}

/**
 * The same agent; `sink` gets a record of every asking, before the reply is used. What the sink throws is thrown by `reply`.
 * Prompts and replies hold whatever programs emitted: treat them as you treat that.
 */
export function transcribed(agent: Agent, sink: (record: AskedRecord) => void | Promise<void>): Agent {
  return {
    ...(agent.name === undefined ? {} : { name: agent.name }),
    ...(agent.fixed === undefined ? {} : { fixed: agent.fixed }),
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
        const message = error instanceof Error ? error.message : String(error);
        await sink({ ...asked, ms: ms(), reply: null, tokens: null, error: message });
        throw error;
      }
      const { text, tokens } = typeof reply === 'string' ? { text: reply, tokens: null } : reply;
      await sink({ ...asked, ms: ms(), reply: text, tokens, error: null });
      return reply;
    },
  };
}
