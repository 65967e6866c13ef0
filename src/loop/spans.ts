import { type Context, context, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api';
import type { JournalEntry } from '../wire/journal.ts';
import type { LoopEvent } from './events.ts';
import type { TurnRecord } from './record/record.ts';

/** The span of a turn under way. */
export interface TurnSpan {
  /** Records an event; never throws. */
  see(event: LoopEvent): void;
}

/**
 * Spans of turns and tool calls, according to the OpenTelemetry conventions for generative AI: `invoke_agent` for a turn, from
 * consulting the agent to the decision, and in it one `execute_tool` per call. Spans name sessions, tools, decisions and
 * codes, and never contain a prompt, an argument, a result or an output.
 */
export class Spans {
  readonly #tracer: Tracer;

  /** Uses the tracer of the application's SDK when absent. Without an SDK, spans have no effect. */
  constructor(tracer: Tracer = trace.getTracer('neuroscript-runtime')) {
    this.#tracer = tracer;
  }

  /** Runs a turn within its span, which is active meanwhile. */
  async turn(sid: string, agent: string | null, work: (span: TurnSpan) => Promise<TurnRecord>): Promise<TurnRecord> {
    const name = agent === null ? 'invoke_agent' : `invoke_agent ${agent}`;
    const span = this.#tracer.startSpan(name, {
      kind: SpanKind.INTERNAL,
      attributes: {
        'gen_ai.operation.name': 'invoke_agent',
        'gen_ai.conversation.id': sid,
        ...(agent === null ? {} : { 'gen_ai.agent.name': agent }),
      },
    });
    const within = trace.setSpan(context.active(), span);
    const see = (event: LoopEvent): void => {
      if (event.type === 'called') this.#tool(event.entry, within);
    };
    try {
      const record = await context.with(within, () => work({ see }));
      describe(span, record);
      return record;
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', codeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** Adds the span of a call that has ended. */
  #tool(entry: JournalEntry, within: Context): void {
    if (entry.kind !== 'tool') return;
    const end = Date.now();
    const tool = entry.name.slice(0, MAX_NAME);
    const attributes = {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool,
      'gen_ai.tool.type': 'function',
    };
    const options = { kind: SpanKind.INTERNAL, startTime: end - entry.ms, attributes };
    const span = this.#tracer.startSpan(`execute_tool ${tool}`, options, within);
    const { outcome } = entry;
    if (!outcome.ok) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', 'halted' in outcome ? outcome.halted.code : `NS${outcome.code}`);
    }
    span.end(end);
  }
}

/** Most characters of a tool's name, because a program can call names of any length that do not exist. */
const MAX_NAME = 100;

function describe(span: Span, { turn, decision, reason, usage, agent }: TurnRecord): void {
  span.setAttributes({
    'neuroscript.turn': turn,
    'neuroscript.decision': decision,
    'neuroscript.fuel': usage.fuel,
    ...(agent === null ? {} : { 'neuroscript.agent.asks': agent.asks }),
    ...(agent?.inputTokens === null || agent === null ? {} : { 'gen_ai.usage.input_tokens': agent.inputTokens }),
    ...(agent?.outputTokens === null || agent === null ? {} : { 'gen_ai.usage.output_tokens': agent.outputTokens }),
  });
  if (reason === null) return;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', reason);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'ERR_INTERNAL';
}
