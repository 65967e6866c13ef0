import {
  type CallToolResult,
  type InputRequiredResult,
  isInputRequiredResult,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { NeuroScriptError } from '../../wire/errors.ts';
import { Progress } from './progress.ts';

/** The answer of a tool: public JSON, and whether it is a failure. */
export interface Answer {
  readonly value: object;
  readonly isError: boolean;
}

/** Answers a request, with reports of its progress before. */
export async function answered<Asked extends InputRequiredResult = never>(
  context: ServerContext,
  work: (progress: Progress) => Promise<Answer | Asked>,
): Promise<CallToolResult | Asked> {
  await using progress = new Progress(context);
  try {
    const answer = await work(progress);
    if (isInputRequiredResult(answer)) return answer;
    const { value, isError } = answer;
    return { isError, content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } };
  } catch (error) {
    // A client can react to wrong use and to a full queue. The library reports every other error.
    if (!(error instanceof NeuroScriptError)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}
