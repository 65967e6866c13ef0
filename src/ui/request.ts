import { NeuroScriptError } from '../wire/errors.ts';

/** The server does not answer a request as it was asked. */
export class RequestError extends NeuroScriptError {
  static readonly code = 'ERR_USAGE';
  readonly status: number;
  constructor(status: number, message: string) {
    super(RequestError.code, message);
    this.status = status;
  }
}

/** A whole number of a query; `usual` when it is absent. Throws {@link RequestError} (400). */
export function wholeOf(query: URLSearchParams, name: string, [least, most]: readonly [number, number], usual: number): number {
  const text = query.get(name);
  if (text === null) return usual;
  const value = Number(text);
  if (text !== '' && Number.isSafeInteger(value) && value >= least && value <= most) return value;
  throw new RequestError(400, `${name} must be a whole number from ${least} to ${most}`);
}
