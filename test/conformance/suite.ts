import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createRuntime, type Runtime } from '../../src/entries/index.ts';
import type { ErrorInfo } from '../../src/wire/errors.ts';
import { TEST_TOOLS } from '../guest/tools.ts';
import { inProcess, inSandbox, type Outcome, type Tools } from './both.ts';
import { type Chunk, readChunks } from './chunks.ts';
import { hostTools } from './hosttools.ts';
import { TWINS } from './twins.ts';
import { makeWorld } from './world.ts';

/** One file of programs, and the tools that they find. */
export interface Section {
  readonly name: string;
  readonly chunks: readonly Chunk[];
  /** New for every program, because tools may remember. */
  tools(): Tools;
}

const FOLDER = new URL('.', import.meta.url).pathname;

/** Every file of the suite: the sections of the language, then the realistic programs. */
export function sections(): readonly Section[] {
  const plain: Tools = { here: TEST_TOOLS, sandbox: TWINS };
  return [
    ...filesIn(FOLDER).map((path) => ({ ...read(path), tools: () => plain })),
    ...filesIn(join(FOLDER, 'programs')).map((path) => ({ ...read(path, 'programs/'), tools: makeWorld })),
  ];
}

function filesIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.ns'))
    .sort()
    .map((name) => join(folder, name));
}

function read(path: string, prefix = ''): Pick<Section, 'name' | 'chunks'> {
  return { name: prefix + basename(path, '.ns'), chunks: readChunks(path) };
}

/** Runs a program in this process; null for one that needs the real host. */
export function runHere(section: Section, chunk: Chunk): Outcome | null {
  return chunk.host ? null : inProcess(chunk, section.tools().here);
}

/** Two runtimes in which everything is allowed that a program's own policy does not refuse; the second has the host's test tools. */
export class Sandboxes implements AsyncDisposable {
  readonly #plain: Runtime;
  readonly #host: Runtime;

  private constructor(plain: Runtime, host: Runtime) {
    this.#plain = plain;
    this.#host = host;
  }

  static async open(): Promise<Sandboxes> {
    const policy = { context: 'config', allow: ['*'] } as const;
    const plain = await createRuntime({ policy, concurrency: 1 });
    return new Sandboxes(plain, await createRuntime({ policy, tools: hostTools(), concurrency: 1 }));
  }

  /** Runs a program in a worker's isolate, as a user does. */
  run(section: Section, chunk: Chunk): Promise<Outcome> {
    return chunk.host ? inSandbox(this.#host, chunk, []) : inSandbox(this.#plain, chunk, section.tools().sandbox);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#plain.close();
    await this.#host.close();
  }
}

/** What must be the same in both: everything but how the driver words the errors of its own calls, and what that costs. */
export function essence({ emits, values, whispers, prompts, eventErrors, error, fuel }: Outcome): unknown {
  const placeOf = ({ code, source, line, column, stack, limit }: ErrorInfo) => [code, source, line, column, stack, limit];
  const place = error === null ? null : placeOf(error);
  const inEvents = eventErrors.map(({ event, error: failed }) => [event, failed.message, placeOf(failed)]);
  const ownWords = error !== null && ['NS3', 'NS9', 'NS26'].includes(error.code);
  return { emits, values, whispers, prompts, inEvents, place, fuel: ownWords ? null : fuel };
}
