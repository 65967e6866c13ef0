import { ConfigError } from '../../wire/errors.ts';
import { type Agent, AgentError, scriptAgent } from '../agents/index.ts';

const CUT = '---';

/**
 * An agent that plays a transcript of v1 replies, one a turn, with lines of three dashes between them. A transcript of v3
 * envelopes is played as `scriptAgent` does. `name` is shown in messages. Throws {@link ConfigError} (`ERR_CONFIG`) for a
 * transcript without any reply; `reply` throws {@link AgentError} when the loop asks for more turns than there are.
 */
export function scriptV1Agent(transcript: string, name: string): Agent {
  if (transcript.includes('<<<NSENV:V3:START>>>')) return scriptAgent(transcript, name);
  const replies = cut(transcript).filter((text) => text.includes('<<<NSENVELOPE_MAGIC::'));
  if (replies.length === 0) throw new ConfigError(`${name} holds no reply: it has no section of an AEIOU v1 envelope`);
  return {
    async reply({ turn }) {
      const reply = replies[turn - 1];
      if (reply === undefined) throw new AgentError(turn, `turn ${turn} has no reply: ${name} holds ${replies.length}`);
      return reply;
    },
  };
}

function cut(transcript: string): readonly string[] {
  const parts: string[][] = [[]];
  for (const line of transcript.split('\n')) {
    if (line.trimEnd() === CUT) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join('\n'));
}
