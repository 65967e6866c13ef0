import { BusyError, ConfigError, NeuroScriptError } from '../wire/errors.ts';
import { messageOf } from '../wire/unknown.ts';
import { RPC } from './messages.ts';

/** An error of JSON-RPC: what a request is answered with in place of a result. */
export class RpcError extends Error {
  /** The code of JSON-RPC. */
  readonly rpcCode: number;
  /** More for programs: `code` is the stable code of the product, with a page in `docs/errors/`. */
  readonly data: Readonly<Record<string, unknown>>;
  constructor(rpcCode: number, message: string, data: Readonly<Record<string, unknown>> = { code: 'ERR_USAGE' }) {
    super(message);
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

/** The answer to a request that failed. A wrong option is a wrong parameter; what has a code of the product keeps it. */
export function rpcErrorOf(thrown: unknown): RpcError {
  if (thrown instanceof RpcError) return thrown;
  if (thrown instanceof ConfigError) return new RpcError(RPC.params, thrown.message, { code: thrown.code });
  if (thrown instanceof BusyError) return new RpcError(RPC.refused, thrown.message, { code: thrown.code });
  if (thrown instanceof NeuroScriptError) return new RpcError(RPC.refused, thrown.message, { code: thrown.code });
  return new RpcError(RPC.internal, messageOf(thrown), { code: 'ERR_INTERNAL' });
}

/** The error with which a peer answered, as far as it can be read. */
export function errorOfPeer(value: unknown): RpcError {
  const { code, message, data }: Readonly<Record<string, unknown>> = { ...Object(value) };
  const text = typeof message === 'string' && message !== '' ? message : 'the client answered with an error without a message';
  return new RpcError(Number.isSafeInteger(code) ? Number(code) : RPC.internal, text, { ...Object(data) });
}
