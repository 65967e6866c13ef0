import { type ChildProcessByStdio, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { deserializeMessage, type JSONRPCMessage, serializeMessage, type Transport } from '@modelcontextprotocol/client';
import { getDefaultEnvironment } from '@modelcontextprotocol/client/stdio';
import { isMonstrous } from '../files/json.ts';
import { LineSplitter } from '../files/lines.ts';
import { killOnExit, signalChild } from '../sandbox/index.ts';
import type { StdioServer } from './config.ts';
import { type Excess, MOST_VALUES } from './values.ts';

/** Milliseconds for a server to end after its input has ended, and again after SIGTERM. The command line waits 3 s in all. */
const END_MS = 2000;
const TERM_MS = 500;

/** Hears what a server writes beside messages. */
export interface Beside {
  readonly stderr: (chunk: Buffer) => void;
  /** Called for each line that is no JSON. */
  readonly noise: () => void;
}

/**
 * A transport that starts its server as the leader of a process group. Unlike the transport of the protocol's library, it reads in linear
 * time, reports messages that are too long, and leaves no process of the group behind: `close` and the end of this process kill processes
 * that ignore SIGTERM.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #server: StdioServer;
  readonly #maxBytes: number;
  readonly #beside: Beside;
  readonly #excess: Excess;
  #child: ChildProcessByStdio<Writable, Readable, Readable> | null = null;
  #closing: Promise<void> | null = null;

  constructor(server: StdioServer, maxBytes: number, beside: Beside, excess: Excess) {
    this.#server = server;
    this.#maxBytes = maxBytes;
    this.#beside = beside;
    this.#excess = excess;
  }

  async start(): Promise<void> {
    if (this.#closing !== null) throw new Error('the connection has been closed');
    const { command, args = [], env, cwd } = this.#server;
    const child = spawn(command, [...args], {
      // `PATH`, `HOME` and the like, and no other variable of this process.
      env: { ...getDefaultEnvironment(), ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: process.platform !== 'win32',
      windowsHide: true,
      cwd,
    });
    this.#child = child;
    const forget = killOnExit(() => signalChild(child));
    child.once('exit', () => {
      // Ends the processes that the server has started, too.
      signalChild(child);
      forget();
    });
    child.once('close', () => this.onclose?.());
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', (error) => this.onerror?.(error));
    child.stderr.on('data', this.#beside.stderr);
    const lines = new LineSplitter(this.#maxBytes);
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of lines.push(chunk)) {
        // Bytes that arrive after `close` are read and dropped, so that the server can end.
        if (this.#closing !== null) return;
        if (line === null) this.#excess.bytes();
        else this.#receive(line.toString());
      }
    });
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) => {
        forget();
        reject(error);
      });
      child.on('error', (error) => this.onerror?.(error));
    });
  }

  #receive(line: string): void {
    if (isMonstrous(line, MOST_VALUES)) {
      this.#excess.values();
      return;
    }
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      // Servers print lines by mistake.
      if (error instanceof SyntaxError) this.#beside.noise();
      else this.onerror?.(error instanceof Error ? error : new Error(String(error)));
      return;
    }
    this.onmessage?.(message);
  }

  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#child === null || this.#closing !== null) throw new Error('the connection has been closed');
      this.#child.stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends the server: by the end of its input, then by SIGTERM, then by SIGKILL. Idempotent; resolves when the server has ended. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child === null || child.pid === undefined) return;
    const { promise: exited, resolve } = Promise.withResolvers<void>();
    child.once('exit', () => resolve());
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    child.stdin.end();
    const term = setTimeout(() => signalChild(child, 'SIGTERM'), END_MS);
    const kill = setTimeout(() => signalChild(child), END_MS + TERM_MS);
    await exited;
    clearTimeout(term);
    clearTimeout(kill);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
  }
}
