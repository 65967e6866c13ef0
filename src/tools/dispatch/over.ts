import type { CallIo } from '../../wire/call.ts';
import { cancelledError } from '../../wire/errorinfo.ts';
import { Halt } from '../errors.ts';

/**
 * The outcome of `work`. Rejects with {@link Halt} when the call is over first: a tool that never settles must not keep the
 * record of the run alive. By then the sandbox has ended the call and ignores the answer.
 */
export function unlessOver<T>(io: CallIo, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const forget = io.whenOver(() => reject(new Halt(cancelledError('the call was given up'))));
    if (io.over) return;
    work().then(
      (value) => {
        forget();
        resolve(value);
      },
      (error: unknown) => {
        forget();
        reject(error);
      },
    );
  });
}
