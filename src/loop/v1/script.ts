import { ConfigError } from '../../wire/errors.ts';
import { type Agent, AgentError, scriptAgent } from '../agents/index.ts';

const SEPARATOR = '---';

/**
 * Creates an agent that replays a transcript of v1 replies, one per turn, separated by lines of three dashes. Replays a
 * transcript of v3 envelopes as `scriptAgent` does. `name` appears in messages. Throws {@link ConfigError} (`ERR_CONFIG`) for a
 * transcript without a reply; `reply` throws {@link AgentError} when the loop requests more turns than there are.
 */
export function scriptV1Agent(transcript: string, name: string): Agent {
  if (transcript.includes('<<<NSENV:V3:START>>>')) return scriptAgent(transcript, name);
  const replies = split(transcript).filter((text) => text.includes('<<<NSENVELOPE_MAGIC::'));
  if (replies.length === 0) throw new ConfigError(`${name} holds no reply: it has no section of an AEIOU v1 envelope`);
  return {
    async reply({ turn }) {
      const reply = replies[turn - 1];
      if (reply === undefined) throw new AgentError(turn, `turn ${turn} has no reply: ${name} holds ${replies.length}`);
      return reply;
    },
  };
}

function split(transcript: string): readonly string[] {
  const parts: string[][] = [[]];
  for (const line of transcript.split('\n')) {
    if (line.trimEnd() === SEPARATOR) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts.map((lines) => lines.join('\n'));
}
