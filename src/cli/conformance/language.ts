import { z } from 'zod';
import { createHostContext, SILENT_LOGGER } from '../../context/index.ts';
import { createRuntime, type Runtime } from '../../runtime/index.ts';
import type { ErrorInfo } from '../../wire/errors.ts';
import { LIMITS } from '../../wire/limits.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import type { OperationResult } from './operations.ts';

const tagged = z.custom<TaggedJson>((json) => json !== undefined);
const known: ReadonlySet<string> = new Set(LIMITS.map(({ key }) => key));
const LIMIT_VALUES = z
  .record(z.string(), z.number())
  .refine((limits) => Object.keys(limits).every((key) => known.has(key)), 'an unknown limit');
const INPUT = z.object({
  source: z.string(),
  call: z.string().nullable(),
  globals: z.record(z.string(), tagged),
  limits: LIMIT_VALUES,
  own: LIMIT_VALUES,
  stdin: z.array(z.string()).nullable(),
  events: z.array(z.object({ name: z.string(), source: z.string(), payload: tagged, id: z.string(), ts: z.number() })),
});

/** Answers `language.run` of the conformance kit with this implementation, in sandboxes of one runtime. */
export class LanguageRuns implements AsyncDisposable {
  #runtime: Promise<Runtime> | null = null;

  /** Runs a program. Throws for a malformed request. */
  async run(input: unknown): Promise<OperationResult> {
    const { source, call, globals, limits, own, stdin, events } = INPUT.parse(input);
    this.#runtime ??= createRuntime({ concurrency: 1, policy: { allow: [] } });
    const runtime = await this.#runtime;
    const host = createHostContext({
      logger: SILENT_LOGGER,
      stdout: { write: () => true },
      ...(stdin === null ? {} : { stdin: stdin.map((line) => `${line}\n`) }),
    });
    const done = await runtime
      .interpreter({ host })
      .fork()
      .runRequest({
        sources: [{ name: 'program', text: source }],
        globals,
        limits: { ...limits, ...own },
        events,
        ...(call === null ? {} : { call: { name: call, args: [] } }),
      });
    const eventErrors = done.eventErrors.map(({ event, error }) => ({ event, error: place(error) }));
    const { emits, whispers, error } = done;
    const result = error === null ? JSON.parse(JSON.stringify(done.result)) : null;
    return { ok: { emits, whispers, result, error: error === null ? null : place(error), eventErrors, fuel: done.usage.fuel } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#runtime)?.close();
  }
}

function place({ code, line, column }: ErrorInfo): Pick<ErrorInfo, 'code' | 'line' | 'column'> {
  return { code, line, column };
}
