import { z } from 'zod';
import { fields, later, pathText, readAs } from '../files/problem.ts';
import type { AgentReply } from '../loop/index.ts';
import { RpcError } from './error.ts';
import { RPC } from './messages.ts';

const count = z.int().min(0);

/** What a client answers to `agent.reply`. */
export const replyForm = later(() =>
  z.union([
    z.string(),
    fields({ text: z.string(), tokens: count, inputTokens: count.optional(), outputTokens: count.optional() }),
  ]),
);

/** The reply of a client's agent: its text, or the text with its cost. Throws {@link RpcError} for anything else. */
export function replyOf(value: unknown): string | AgentReply {
  return readAs(replyForm(), value, ({ path, problem }) => {
    throw new RpcError(
      RPC.params,
      `the reply of the client's agent${path.length === 0 ? '' : `, ${pathText(path)}`}: ${problem}`,
    );
  });
}
