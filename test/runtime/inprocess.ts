import type { SourceFile } from '../../grammar/index.ts';
import { parse } from '../../grammar/index.ts';
import { boot } from '../../src/guest/main.ts';
import type { SandboxPort } from '../../src/runtime/index.ts';
import { OpenCall } from '../../src/sandbox/call.ts';
import type { RunHandlers, SandboxResult } from '../../src/sandbox/index.ts';
import { answerTogether } from '../../src/sandbox/together.ts';
import { readWorkerFrame } from '../../src/sandbox/workerframes.ts';
import type { ForeseeOptions, GuestResult, RunInput, Source } from '../../src/wire/protocol.ts';
import { NO_USAGE } from '../../src/wire/result.ts';
import type { ForeseenReport } from '../../src/wire/sourcereports.ts';
import { foreseeSources } from '../../src/worker/check.ts';

/** Leaves the interpreter, which waits for an answer. */
class Unanswered extends Error {}

/**
 * A sandbox without a process: the interpreter runs here, and starts again from the beginning for every answer of the host. All else
 * is real: the frames and their checks, open calls, and what is behind `onCall`.
 */
export class InProcessSandbox implements SandboxPort {
  readonly #trees = new Map<string, SourceFile>();

  async run(input: RunInput, handlers: RunHandlers): Promise<SandboxResult> {
    const files = input.sources.map((source) => this.#tree(source));
    const answers: string[] = [];
    let outs = 0;
    let open: OpenCall | null = null;
    let answered = Promise.withResolvers<void>();
    const send = (frame: object): void => {
      answers.push(JSON.stringify(frame));
      answered.resolve();
    };
    for (;;) {
      let asked: string | null = null;
      let next = 0;
      let out = 0;
      const host = (text: string): string => {
        if (text.startsWith('{"t":"out"')) {
          if (out++ === outs) {
            outs++;
            const frame = readWorkerFrame(JSON.parse(text));
            if (frame.t === 'out') handlers.onOut(frame);
          }
          return '';
        }
        const answer = answers[next++];
        if (answer !== undefined) return answer;
        asked = text;
        throw new Unanswered();
      };
      const ended = boot(
        () => 0,
        host,
        () => '',
      )(JSON.stringify({ ...input, files }), () => new Map());
      if (asked === null) return resultOf(JSON.parse(ended));
      const frame = readWorkerFrame(JSON.parse(asked));
      answered = Promise.withResolvers();
      if (frame.t === 'var') open?.answered(frame);
      else {
        const opened = new OpenCall(send, () => {});
        open = opened;
        if (frame.t === 'together')
          void answerTogether(
            frame.calls,
            opened,
            (call, io) => handlers.onCall(call, io),
            () => {},
          ).then((reply) => opened.reply(reply));
        else if (frame.t === 'tool' || frame.t === 'prompt' || frame.t === 'ask')
          void handlers.onCall(frame, opened).then((reply) => opened.reply(reply));
      }
      await answered.promise;
    }
  }

  #tree({ name, text }: Source): SourceFile {
    const known = this.#trees.get(text);
    if (known !== undefined) return known;
    const parsed = parse(text, { name });
    if (!parsed.ok) throw new Error(`${parsed.errors[0].line}: ${parsed.errors[0].message}`);
    this.#trees.set(text, parsed.file);
    return parsed.file;
  }

  async parse(): Promise<{ readonly diagnostics: readonly []; readonly files: readonly [] }> {
    return { diagnostics: [], files: [] };
  }

  async foresee(sources: readonly Source[], sourceBytes: number, options: ForeseeOptions): Promise<ForeseenReport> {
    return foreseeSources(sources, sourceBytes, options);
  }

  async check(): Promise<{ readonly diagnostics: []; readonly files: []; readonly findings: []; readonly estimates: [] }> {
    return { diagnostics: [], files: [], findings: [], estimates: [] };
  }

  async format({ text }: { readonly text: string }): Promise<{ readonly text: string; readonly diagnostics: [] }> {
    return { text, diagnostics: [] };
  }

  async close(): Promise<void> {}
}

function resultOf(result: GuestResult): SandboxResult {
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = result;
  return { result, usage: { ...NO_USAGE, fuel, peakMemoryBytes, toolCalls, outputBytes }, errors: [], outputComplete: true };
}
