import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  createProtocolConnection,
  type Diagnostic,
  type InitializeResult,
  type ProtocolConnection,
  PublishDiagnosticsNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';

/** The client half of the official implementation of the protocol, with a server in a process of its own. */
export class Client implements AsyncDisposable {
  readonly process: ChildProcess;
  readonly connection: ProtocolConnection;
  readonly problems = new Map<string, readonly Diagnostic[]>();
  /** Messages to the person at the editor. */
  readonly shown: string[] = [];
  published = 0;

  private constructor(child: ChildProcess, connection: ProtocolConnection) {
    this.process = child;
    this.connection = connection;
  }

  static async start(folder: string | null, ...flags: string[]): Promise<Client> {
    const command = new URL('../../bin/neuroscript.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [command, 'lsp', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
    const connection = createProtocolConnection(new StreamMessageReader(child.stdout), new StreamMessageWriter(child.stdin));
    const client = new Client(child, connection);
    connection.onNotification(PublishDiagnosticsNotification.type, ({ uri, diagnostics }) => {
      client.published += 1;
      client.problems.set(uri, diagnostics);
    });
    connection.onNotification('window/showMessage', ({ message }: { message: string }) => {
      client.shown.push(message);
    });
    connection.listen();
    const workspaceFolders = folder === null ? null : [{ uri: `file://${folder}`, name: 'tests' }];
    const textDocument = { completion: { completionItem: { snippetSupport: true } } };
    await client.ask<InitializeResult>('initialize', {
      processId: process.pid,
      rootUri: null,
      capabilities: { textDocument },
      workspaceFolders,
    });
    await client.tell('initialized', {});
    return client;
  }

  ask<Answer>(method: string, params?: object): Promise<Answer> {
    return params === undefined ? this.connection.sendRequest(method) : this.connection.sendRequest(method, params);
  }

  tell(method: string, params?: object): Promise<void> {
    return this.connection.sendNotification(method, params);
  }

  open(uri: string, text: string): Promise<void> {
    return this.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'neuroscript', version: 1, text } });
  }

  at<Answer>(method: string, uri: string, line: number, character: number, more: object = {}): Promise<Answer> {
    return this.ask(`textDocument/${method}`, { textDocument: { uri }, position: { line, character }, ...more });
  }

  /** Ends the server as the protocol says, and resolves with its exit code. */
  async end(): Promise<number | null> {
    const exited = once(this.process, 'exit');
    await this.ask('shutdown');
    await this.tell('exit');
    const [code] = await exited;
    return code;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.connection.dispose();
    if (this.process.exitCode !== null) return;
    const exited = once(this.process, 'exit');
    this.process.kill();
    await exited;
  }
}
