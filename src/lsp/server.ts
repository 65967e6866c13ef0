import { opendir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  CodeActionKind,
  type Connection,
  createConnection,
  DidChangeWatchedFilesNotification,
  type InitializeParams,
  type InitializeResult,
  MessageType,
  ShowMessageNotification,
  TextDocumentSyncKind,
  TextDocuments,
} from 'vscode-languageserver';
import {
  AbstractMessageWriter,
  createProtocolConnection,
  type Message,
  type MessageWriter,
  StreamMessageReader,
} from 'vscode-languageserver/node';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { VERSION } from '../runtime/version.ts';
import { FIX_ALL } from './actions.ts';
import { LEGEND } from './highlight.ts';
import { Requests } from './requests.ts';
import { type Tooling, Workspace } from './workspace.ts';

export interface LanguageServerOptions {
  readonly input: Readable;
  readonly output: Writable;
  readonly signal: AbortSignal;
  /**
   * Reads tools and policy: once the client has named its folders, and again after each change of a YAML file in them. A rejection is
   * shown to the person at the editor; the server goes on with the tools that it has.
   */
  readonly tooling: (folders: readonly string[]) => Promise<Tooling>;
  /** The tools until then. */
  readonly initial: Tooling;
}

/** Files whose changes the client reports. */
const WATCHED = '**/*.{ns,yaml,yml}';

/** Serves the Language Server Protocol until the client or the signal ends it. Resolves with the exit code that the protocol asks for. */
export function serveLanguage(options: LanguageServerOptions): Promise<number> {
  const { input, output, signal } = options;
  const { promise, resolve } = Promise.withResolvers<number>();
  const ended = new AbortController();
  const end = (code: number): void => {
    ended.abort();
    resolve(code);
  };
  const watchDog = { shutdownReceived: false, initialize: () => {}, exit: end };
  const reader = new StreamMessageReader(input);
  // A timer that waits for the rest of a message would keep the process alive.
  reader.partialMessageTimeout = 0;
  const connection = createConnection(
    (logger) => createProtocolConnection(reader, new WholeMessageWriter(output), logger),
    watchDog,
  );
  const server = new LanguageServer(connection, options, ended.signal);
  // A client that is gone sends no `exit`.
  input.once('end', () => end(watchDog.shutdownReceived ? 0 : 1));
  signal.addEventListener('abort', () => end(0), { once: true });
  server.listen();
  return promise.finally(() => connection.dispose());
}

class LanguageServer {
  readonly #connection: Connection;
  readonly #options: LanguageServerOptions;
  readonly #ended: AbortSignal;
  readonly #workspace: Workspace;
  readonly #texts = new TextDocuments(TextDocument);
  readonly #requests: Requests;
  #folders: readonly string[] = [];
  #watches = false;

  constructor(connection: Connection, options: LanguageServerOptions, ended: AbortSignal) {
    this.#connection = connection;
    this.#options = options;
    this.#ended = ended;
    this.#workspace = new Workspace(options.initial);
    this.#requests = new Requests(connection, this.#workspace);
  }

  listen(): void {
    const connection = this.#connection;
    connection.onInitialize((params) => this.#initialize(params));
    connection.onInitialized(() => this.#begin());
    connection.onDidChangeWatchedFiles(({ changes }) => this.#changed(changes.map(({ uri }) => uri)));
    this.#texts.onDidChangeContent(({ document }) =>
      this.#edited(document.uri, this.#workspace.edit(document.uri, document.getText())),
    );
    this.#texts.onDidClose(({ document }) => {
      void connection.sendDiagnostics({ uri: document.uri, diagnostics: [] });
      this.#edited(null, this.#workspace.close(document.uri));
    });
    this.#texts.listen(connection);
    connection.listen();
  }

  #initialize({ capabilities, workspaceFolders }: InitializeParams): InitializeResult {
    this.#folders = (workspaceFolders ?? []).flatMap(({ uri }) => (uri.startsWith('file:') ? [fileURLToPath(uri)] : []));
    this.#watches = capabilities.workspace?.didChangeWatchedFiles?.dynamicRegistration === true;
    this.#requests.snippets = capabilities.textDocument?.completion?.completionItem?.snippetSupport === true;
    return {
      serverInfo: { name: 'neuroscript', version: VERSION },
      capabilities: {
        textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental },
        completionProvider: { triggerCharacters: ['.'] },
        hoverProvider: true,
        signatureHelpProvider: { triggerCharacters: ['(', ','] },
        definitionProvider: true,
        referencesProvider: true,
        documentHighlightProvider: true,
        renameProvider: { prepareProvider: true },
        documentSymbolProvider: true,
        workspaceSymbolProvider: true,
        foldingRangeProvider: true,
        documentFormattingProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix, FIX_ALL] },
        semanticTokensProvider: { legend: LEGEND, full: true },
      },
    };
  }

  async #begin(): Promise<void> {
    if (this.#watches)
      await this.#connection.client.register(DidChangeWatchedFilesNotification.type, { watchers: [{ globPattern: WATCHED }] });
    await this.#readTooling();
    for (const folder of this.#folders)
      for await (const { uri, text } of programsBelow(folder, this.#ended)) this.#workspace.file(uri, text);
    this.#publishAll();
  }

  async #readTooling(): Promise<void> {
    try {
      this.#workspace.tooling = await this.#options.tooling(this.#folders);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      await this.#connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Error, message });
    }
  }

  async #changed(uris: readonly string[]): Promise<void> {
    for (const uri of uris)
      if (uri.startsWith('file:') && uri.endsWith('.ns')) this.#workspace.file(uri, await programText(fileURLToPath(uri)));
    if (uris.some((uri) => /\.ya?ml$/.test(uri))) await this.#readTooling();
    this.#publishAll();
  }

  /** Publishes what changed: the findings of a document, and those of all others if they depend on it. */
  #edited(uri: string | null, others: boolean): void {
    if (others) this.#publishAll();
    else if (uri !== null) this.#requests.publish(uri);
  }

  #publishAll(): void {
    if (!this.#ended.aborted) for (const { uri } of this.#workspace.openDocuments) this.#requests.publish(uri);
  }
}

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

/** Most program files that a workspace reads; the others are known only while they are open. */
const MAX_FILES = 2000;
/** Most bytes of a program file, as for programs that run. */
const MAX_BYTES = 1_048_576;
/** Folders deeper than this are not read. */
const MAX_DEPTH = 12;

/** The program files below a folder, with their texts. Skips what it cannot read, hidden folders, and installed packages. */
async function* programsBelow(folder: string, signal: AbortSignal): AsyncGenerator<{ uri: string; text: string }> {
  let left = MAX_FILES;
  const waiting = [{ path: folder, depth: 0 }];
  for (let next = waiting.shift(); next !== undefined && left > 0 && !signal.aborted; next = waiting.shift()) {
    const { path, depth } = next;
    try {
      for await (const entry of await opendir(path)) {
        const child = join(path, entry.name);
        if (entry.isDirectory() && depth < MAX_DEPTH && !entry.name.startsWith('.') && entry.name !== 'node_modules')
          waiting.push({ path: child, depth: depth + 1 });
        if (!entry.isFile() || !entry.name.endsWith('.ns') || left === 0) continue;
        const text = await programText(child);
        if (text === null) continue;
        left -= 1;
        yield { uri: pathToFileURL(child).href, text };
      }
    } catch (error) {
      if (!isSystemError(error)) throw error;
    }
  }
}

/** The text of a program file; null for one that is gone, too large or unreadable. */
async function programText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    return size > MAX_BYTES ? null : await readFile(path, 'utf8');
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return null;
  }
}

function isSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
