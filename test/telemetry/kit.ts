import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Context,
  type ContextManager,
  context,
  propagation,
  ROOT_CONTEXT,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { Telemetry, type TelemetryOptions } from '../../src/telemetry/index.ts';

/** What the context manager of the Node SDK does, without its handling of event emitters. */
class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    within: Context,
    work: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(within, () => work.apply(self, args));
  }
  bind<T>(_context: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

/** The propagator of W3C, for valid fields. */
const TRACEPARENT: TextMapPropagator = {
  inject(within, carrier, { set }) {
    const active = trace.getSpanContext(within);
    if (active !== undefined) set(carrier, 'traceparent', `00-${active.traceId}-${active.spanId}-01`);
  },
  extract(within, carrier, { get }) {
    const [, traceId, spanId] = String(get(carrier, 'traceparent') ?? '').split('-');
    if (traceId === undefined || spanId === undefined) return within;
    return trace.setSpanContext(within, { traceId, spanId, traceFlags: 1, isRemote: true });
  },
  fields: () => ['traceparent'],
};

/** A span as tests compare it: its name, and what happened within it. */
export interface Tree {
  readonly [name: string]: Tree;
}

/** The SDK of an application, registered for this process, and what it would have exported. */
export function openSdk(options: TelemetryOptions = {}) {
  const exported = new InMemorySpanExporter();
  const tracing = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exported)] });
  const points = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: points, exportIntervalMillis: 3_600_000 });
  const metering = new MeterProvider({ readers: [reader] });
  context.setGlobalContextManager(new AsyncContexts());
  trace.setGlobalTracerProvider(tracing);
  propagation.setGlobalPropagator(TRACEPARENT);
  const spans = (): readonly ReadableSpan[] => exported.getFinishedSpans();
  return {
    telemetry: new Telemetry({ meter: metering.getMeter('test'), ...options }),
    meter: metering.getMeter('test'),
    spans,
    /** The only span of this name. */
    span(name: string): ReadableSpan {
      const [found, ...more] = spans().filter((span) => span.name === name);
      if (found === undefined || more.length > 0) throw new Error(`not one span ${name} of ${spans().map((each) => each.name)}`);
      return found;
    },
    /** The names of all spans, each with those within it. Spans of the same name next to each other are one. */
    tree(): Tree {
      const within = (id: string | undefined): Tree =>
        Object.fromEntries(
          spans()
            .filter(({ parentSpanContext }) => parentSpanContext?.spanId === id)
            .map((span) => [span.name, within(span.spanContext().spanId)]),
        );
      return within(undefined);
    },
    async metrics(): Promise<readonly MetricData[]> {
      await reader.forceFlush();
      return (points.getMetrics().at(-1)?.scopeMetrics ?? []).flatMap(({ metrics }) => metrics);
    },
    async [Symbol.asyncDispose]() {
      context.disable();
      trace.disable();
      propagation.disable();
      await metering.shutdown();
    },
  };
}
