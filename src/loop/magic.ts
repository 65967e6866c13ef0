import { MagicError, Minter, type MinterOptions, MintLedger, type TurnFacts } from '../aeiou/index.ts';
import { nonceOf } from '../context/nonce.ts';
import { defineTool, MAGIC_TOOL, type ToolDefinition, ToolError, type ToolRuntime } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { messageOf } from '../wire/unknown.ts';

export { MAGIC_TOOL };

/** The key of the turn's {@link MintLedger} in its turn context. Contexts derived within the turn share the ledger. */
export const MINT_LEDGER = 'aeiou.mintLedger';

/**
 * Makes `tool.aeiou.magic(kind, payload, opts?)`, the only way for a program to get a control token. Session, turn and nonce
 * come from the turn context alone; no argument can name another turn. A program can catch the tool's errors: code 4 for
 * invalid arguments, 37 for the mint cap, 19 outside a live turn, and 6 when neither signer could sign. Code 6 (`Internal`)
 * tells the program that the host is at fault and that a retry is pointless. Throws {@link ConfigError} when the keyring has
 * no fallback signer.
 */
export function createMagicTool(options: MinterOptions): ToolDefinition {
  const minter = new Minter(options);
  return defineTool({
    setsVariables: false,
    name: MAGIC_TOOL,
    description: 'Makes a signed control token for this turn. Emit exactly what it returns, as the last line.',
    args: [
      { name: 'kind', type: 'any', description: '"LOOP"' },
      {
        name: 'payload',
        type: 'any',
        description: "a map with 'action': continue, done or abort; 'request' and 'telemetry' are maps",
      },
      { name: 'opts', type: 'any', required: false, description: "a map with 'ttl', in seconds" },
    ],
    returns: 'string',
    // The tool reads and changes nothing outside the turn.
    effects: 'none',
    run: async ({ kind, payload, opts }, runtime) => {
      const { facts, ledger } = turnOf(runtime);
      try {
        const minted = await minter.mint(facts, ledger, { kind, payload, opts }, runtime.signal);
        if (minted.fallback !== null) warn(runtime, minted.kid, minted.fallback.cause);
        return minted.token;
      } catch (error) {
        throw error instanceof MagicError ? asToolError(error) : error;
      }
    },
  });
}

function turnOf({ turn, site }: ToolRuntime): { readonly facts: TurnFacts; readonly ledger: MintLedger } {
  // Among equal tokens the last one wins. Calls that run together have no order, so they must not mint.
  if (site.together !== undefined)
    throw new ToolError(NS_CODES.PreconditionFailed, `${MAGIC_TOOL} cannot run together with other calls`);
  if (turn.closed) throw new ToolError(NS_CODES.PreconditionFailed, `${MAGIC_TOOL}: this turn has ended`);
  const { sessionId, turnIndex } = turn;
  const turnNonce = nonceOf(turn);
  const ledger = turn.value(MINT_LEDGER);
  if (sessionId === null || turnIndex === null || turnNonce === null || !(ledger instanceof MintLedger))
    throw new ToolError(
      NS_CODES.PreconditionFailed,
      `${MAGIC_TOOL} works only inside a turn of a host loop`,
      'use `neuroscript turn` or `neuroscript loop` instead of `run`',
    );
  return { facts: { sessionId, turnIndex, turnNonce }, ledger };
}

/** The message starts with the protocol's code, so that programs and logs can tell the failures apart. */
function asToolError(error: MagicError): ToolError {
  const text = `${error.code}: ${error.message}`;
  if (error.code === 'ERR_MAGIC_TOOL_INTERNAL') return new ToolError(NS_CODES.Internal, text, undefined, { cause: error });
  if (error.detail === 'mint_cap') return new ToolError(NS_CODES.ResourceExhaustion, text, undefined, { cause: error });
  return new ToolError(NS_CODES.ArgMismatch, text, `write emit ${MAGIC_TOOL}("LOOP", {'action': 'done'})`, { cause: error });
}

function warn({ logger, turn }: ToolRuntime, kid: string, cause: unknown): void {
  logger.warn(
    { sid: turn.sessionId, turn: turn.turnIndex, kid, reason: messageOf(cause) },
    'the primary signer failed; the fallback minted an abort',
  );
}
