import { ConfigError } from '../wire/errors.ts';

/** The package that the application installs. */
const PACKAGE = '@restatedev/restate-sdk';

/** A value that Restate delivers. */
export interface Coming extends PromiseLike<unknown> {
  /** Rejects with a terminal error after so many milliseconds. */
  orTimeout(ms: number): PromiseLike<unknown>;
}

/** What the handlers use of the context of a shared handler. */
export interface SharedContext {
  /** The key of the object: the id of the session. */
  readonly key: string;
  get(name: string): PromiseLike<unknown>;
  run<T>(
    name: string,
    step: () => Promise<T>,
    retries: { readonly initialRetryInterval: number; readonly maxRetryInterval: number },
  ): PromiseLike<T>;
  resolveAwakeable(id: string): void;
  objectSendClient(object: SessionObject, key: string): { turn(number: number): unknown };
}

/** What the handlers use of the context of an exclusive handler. */
export interface ExclusiveContext extends SharedContext {
  set(name: string, value: string | number): void;
  clearAll(): void;
  awakeable(): { readonly id: string; readonly promise: Coming };
}

/** A virtual object, as the endpoint of the SDK takes it. */
export interface SessionObject {
  /** The name under which Restate knows it. */
  readonly name: string;
}

/** The errors that handlers make, or tell from others. */
export interface SdkErrors {
  /** Restate does not call the handler again. */
  readonly TerminalError: new (
    message: string,
    options: { readonly errorCode: number },
  ) => Error;
  /** The invocation was cancelled; a terminal error. */
  readonly CancelledError: new () => Error;
}

/** What this part uses of the SDK. */
export interface Sdk extends SdkErrors {
  object(definition: object): SessionObject;
  readonly handlers: {
    readonly object: {
      exclusive(options: object, handler: (context: ExclusiveContext, input: unknown) => Promise<unknown>): unknown;
      shared(options: object, handler: (context: SharedContext, input: unknown) => Promise<unknown>): unknown;
    };
  };
}

/** Loads the SDK. Throws {@link ConfigError} when it is not installed. */
export async function loadSdk(): Promise<Sdk> {
  const name: string = PACKAGE;
  try {
    const loaded: Sdk = await import(name);
    return loaded;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND')
      throw new ConfigError(`sessions on Restate need its SDK: npm install ${PACKAGE}`, { cause: error });
    throw error;
  }
}
