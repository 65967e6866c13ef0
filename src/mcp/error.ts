import {
  type Client,
  InsufficientScopeError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { ToolError } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { messageOf } from '../wire/unknown.ts';
import { LoginNeeded } from './auth/provider.ts';

/** A server is away for a while. */
export interface Outage {
  /** Whether it may have taken the request, whose effect nobody knows then. */
  readonly mayHaveTaken: boolean;
  /** Milliseconds after which it may answer; 0 when it has not said. */
  readonly retryAfterMs: number;
}

export interface McpErrorOptions extends ErrorOptions {
  readonly outage?: Outage | null;
}

/** A server cannot be reached, does not answer in time, or violates the protocol. */
export class McpError extends NeuroScriptError {
  static readonly code = 'ERR_MCP';
  /** Null for a failure that the same request would meet again. */
  readonly outage: Outage | null;
  constructor(server: string, problem: string, options: McpErrorOptions = {}) {
    super(McpError.code, `MCP server '${server}': ${problem}`, options);
    this.outage = options.outage ?? null;
  }
}

/** The failure of a request as a program sees it. `idempotent`: the request may be repeated, whatever became of it. */
export function toolError(error: unknown, idempotent: boolean): unknown {
  if (!(error instanceof McpError)) return error;
  const { outage, message } = error;
  const again = outage !== null && (idempotent || !outage.mayHaveTaken);
  return new ToolError(NS_CODES.External, message, undefined, {
    cause: error,
    retryAfterMs: again ? outage.retryAfterMs : null,
  });
}

/** A server has no time for a request, and has not begun with it. */
export class ServerBusy extends Error {
  readonly retryAfterMs: number;
  constructor(status: number, retryAfterMs: number) {
    super(`it is busy (HTTP ${status})`);
    this.retryAfterMs = retryAfterMs;
  }
}

/** Errors of a connection over which no request has been sent. */
const UNSENT = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT'];
/** Errors of a connection that ended. */
const CUT = ['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET'];
/** Statuses of a server that does not know a session: that of the protocol, and the one that many servers use. */
const UNKNOWN = [404, 400];
/** Statuses of a proxy that has lost the server behind it. */
const LOST = [502, 504];

/**
 * The outage that an error of the library, of `fetch` or of a socket tells; null for every other failure. `isTaken`: the server has taken the
 * request before.
 */
export function outageOf(error: unknown, isTaken = false): Outage | null {
  const told = (mayHaveTaken: boolean, retryAfterMs = 0): Outage => ({ mayHaveTaken: isTaken || mayHaveTaken, retryAfterMs });
  if (error instanceof ServerBusy) return told(false, error.retryAfterMs);
  if (error instanceof SdkHttpError) return LOST.includes(error.status) ? told(true) : null;
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) return told(true);
  if (error instanceof SdkError && error.code === SdkErrorCode.NotConnected) return told(false);
  if (!(error instanceof Error)) return null;
  if ('code' in error && UNSENT.some((code) => code === error.code)) return told(false);
  if ('code' in error && CUT.some((code) => code === error.code)) return told(true);
  return outageOf(error.cause, isTaken);
}

/** The message of an error. That of `fetch` does not say why it failed; its cause does. */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return error instanceof TypeError && error.cause instanceof Error ? `${message}: ${messageOf(error.cause)}` : message;
}

/** A tool differs from the one that was offered. */
export class Changed extends Error {}

/** Whether a server has forgotten the session of a client, as one that was started anew has. It has refused the request then. */
export function isUnknownSession(error: unknown, { transport }: Client): boolean {
  return error instanceof SdkHttpError && UNKNOWN.includes(error.status) && transport?.sessionId !== undefined;
}

/** Whether a server failed when it was asked which protocol versions it knows. */
export function isNegotiation(error: unknown): boolean {
  return error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
}

/** Whether a person must log in. */
export function isLogin(error: unknown): boolean {
  return error instanceof LoginNeeded || error instanceof UnauthorizedError || error instanceof InsufficientScopeError;
}
