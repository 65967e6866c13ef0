import { ConfigError } from '../../wire/errors.ts';
import { type Agent, AgentError } from './agent.ts';

const START = '<<<NSENV:V3:START>>>';
const END = '<<<NSENV:V3:END>>>';

/**
 * Creates an agent that replays a transcript: one reply per envelope, in order, each with the prose before it. `name` appears
 * in messages. Throws {@link ConfigError} for a transcript without an envelope; `reply` throws {@link AgentError} when the
 * session requests more turns than the transcript has.
 */
export function scriptAgent(transcript: string, name: string): Agent {
  const replies = splitTranscript(transcript);
  if (replies.length === 0) throw new ConfigError(`${name} holds no envelope: it has no line ${START}`);
  return {
    name,
    fixed: true,
    async reply({ turn }) {
      const reply = replies[turn - 1];
      if (reply === undefined) {
        const has = replies.length === 1 ? 'one envelope' : `${replies.length} envelopes`;
        throw new AgentError(turn, `turn ${turn} has no reply: ${name} holds ${has}`);
      }
      return reply;
    },
  };
}

/**
 * The replies of a transcript. Every END line ends a reply. Text after the last END is prose unless it starts another
 * envelope; then it is a reply of its own, so that its turn reports the missing END.
 */
export function splitTranscript(transcript: string): readonly string[] {
  const replies: string[] = [];
  let lines: string[] = [];
  let started = false;
  for (const line of transcript.split('\n')) {
    lines.push(line);
    if (line === START) started = true;
    if (line === END && started) {
      replies.push(lines.join('\n'));
      lines = [];
      started = false;
    }
  }
  if (started) replies.push(lines.join('\n'));
  return replies;
}
