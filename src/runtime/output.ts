import type { HostContext } from '../context/index.ts';
import { callBack } from '../wire/callback.ts';
import type { EventError, OutFrame, TaggedJson, Whisper } from '../wire/protocol.ts';
import type { RootContext } from './context.ts';
import type { RunRequest } from './request.ts';

/** Collects the output of one run, and passes it on while the program runs. */
export class RunOutput {
  readonly emits: string[] = [];
  readonly values: TaggedJson[] = [];
  readonly whispers: Whisper[] = [];
  readonly #root: RootContext;
  readonly #request: RunRequest;

  constructor(root: RootContext, request: RunRequest) {
    this.#root = root;
    this.#request = request;
  }

  /** Takes the next part of the output. */
  add(out: OutFrame): void {
    for (const text of out.emits) this.emits.push(text);
    for (const value of out.values) this.values.push(value);
    for (const whisper of out.whispers) this.whispers.push(whisper);
    const { onOut, asTurn } = this.#request;
    if (onOut !== undefined) this.#notify('onOut', () => onOut(out));
    else if (asTurn !== true) this.#toHost(out);
  }

  /** Reports the errors that event handlers left uncleared. */
  reportEventErrors(errors: readonly EventError[]): void {
    for (const { event, error } of errors) {
      const source = this.#request.events?.find(({ name }) => name === event)?.source ?? '';
      this.#notify('onEventError', (host) => host.onEventError?.(event, source, error));
    }
  }

  #toHost({ emits, values, whispers }: OutFrame): void {
    for (const [index, text] of emits.entries()) this.#notify('emit', ({ emit }) => emit?.(values[index] ?? null, text));
    for (const { to, text } of whispers) {
      this.#root.buffers.append(to, text);
      this.#notify('whisper', ({ whisper }) => whisper?.(to, text));
    }
  }

  /** Calls a callback of the application. A callback cannot break a run: its failure goes to the log. */
  #notify(name: string, callback: (host: HostContext) => unknown): void {
    const { host } = this.#root;
    callBack(
      () => callback(host),
      (error) => host.logger.error({ error }, `the callback ${name} failed`),
    );
  }
}
