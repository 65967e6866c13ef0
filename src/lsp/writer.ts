import { AbstractMessageWriter, type Message, type MessageWriter } from 'vscode-languageserver/node';

/** Writes each message at once. That of the library writes the head and the content one after the other, and the client wakes up for both. */
export class WholeMessageWriter extends AbstractMessageWriter implements MessageWriter {
  readonly #output: NodeJS.WritableStream;
  #errors = 0;

  constructor(output: NodeJS.WritableStream) {
    super();
    this.#output = output;
    output.on('error', (error: Error) => this.fireError(error));
    output.on('close', () => this.fireClose());
  }

  write(message: Message): Promise<void> {
    const content = JSON.stringify(message);
    const bytes = Buffer.from(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#output.write(bytes, (error) => {
      if (error === undefined || error === null) return resolve();
      this.#errors += 1;
      this.fireError(error, message, this.#errors);
      reject(error);
    });
    return promise;
  }

  end(): void {
    this.#output.end();
  }
}
