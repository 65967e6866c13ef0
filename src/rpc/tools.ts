import { defineTool, type JsonSchema, type ObjectSchema, type ToolDefinition, ToolError } from '../tools/index.ts';
import { encode } from '../wire/codec.ts';
import { isToolCode, LAST_OWN_CODE, NS_CODES } from '../wire/codes.ts';
import { decodeTagged } from '../wire/foreign.ts';
import { RpcError } from './error.ts';
import type { Params } from './forms.ts';
import type { MessageId } from './messages.ts';
import type { Peer } from './peer.ts';

/** A tool as a client describes it. */
export type ClientTool = NonNullable<Params<'initialize'>['tools']>[number];

/**
 * A tool whose calls the client answers. `requestOf` finds the request for which a call is made, by the fork that makes it or by its
 * session. Throws `ConfigError` for a description that cannot be a tool.
 */
export function clientTool(
  tool: ClientTool,
  peer: Peer,
  requestOf: (forkId: string, session: string | null) => MessageId | null,
): ToolDefinition {
  const { name, inputSchema, outputSchema, ...rest } = tool;
  const schema: JsonSchema | undefined = inputSchema;
  return defineTool({
    ...rest,
    name,
    setsVariables: false,
    args: schema === undefined ? undefined : argumentsOf(schema),
    returns: outputSchema,
    async run(args: Readonly<Record<string, unknown>>, { forkId, turn, call, signal }) {
      const { sessionId: session } = turn;
      const params = {
        id: requestOf(forkId, session),
        name,
        args: encode(args),
        session: session ?? undefined,
        key: call.key ?? undefined,
      };
      try {
        return decodeTagged(await peer.ask('tool.call', params, signal));
      } catch (error) {
        if (!(error instanceof RpcError)) throw error;
        const { nsCode, hint, retryAfterMs } = error.data;
        const code = nsCode ?? NS_CODES.ToolExecutionFailed;
        if (!isToolCode(code)) throw new ToolError(NS_CODES.ToolExecutionFailed, `${error.message} (${noToolCode(code)})`);
        const options = { retryAfterMs: typeof retryAfterMs === 'number' ? retryAfterMs : null };
        throw new ToolError(code, error.message, typeof hint === 'string' ? hint : undefined, options);
      }
    },
  });
}

function noToolCode(code: unknown): string {
  const said = JSON.stringify(code).slice(0, 40);
  return `the client gave the code ${said}; a tool has a code of the language's table, or one of its own from 1000 to ${LAST_OWN_CODE}`;
}

/** A schema of arguments without properties is that of a tool without arguments. */
function argumentsOf(schema: JsonSchema): ObjectSchema {
  return { ...schema, type: 'object', properties: schema.properties ?? {} };
}
