import {
  type Attributes as ApiAttributes,
  type Span as ApiSpan,
  context,
  createContextKey,
  type Histogram,
  INVALID_SPAN_CONTEXT,
  type Meter,
  metrics,
  ProxyTracerProvider,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { isNsCode } from '../wire/codes.ts';
import { anything, checker, checkFlag } from '../wire/options.ts';
import { ATTR, HISTOGRAMS, type HistogramName } from './conventions.ts';

/** Options of a {@link Telemetry}. */
export interface TelemetryOptions {
  /** The tracer of the application's OpenTelemetry SDK when absent. */
  readonly tracer?: Tracer;
  /** The meter of the application's OpenTelemetry SDK when absent. */
  readonly meter?: Meter;
  /**
   * Whether spans hold the content of prompts, replies, tool arguments and tool results; false when absent. Content may be
   * confidential and large. The SDK's limit on the length of an attribute cuts it.
   */
  readonly content?: boolean;
}

const checkTelemetry = checker<TelemetryOptions>({ tracer: anything, meter: anything, content: checkFlag });

export type Span = ApiSpan;

export type Attributes = ApiAttributes;

export interface SpanInit {
  readonly name: string;
  /** `INTERNAL` when absent. */
  readonly kind?: SpanKind;
  /** The attributes, or a function that makes them. The function is called only where a span is made. */
  readonly attributes: Attributes | (() => Attributes);
  /** The trace of a caller in another process, as the fields that its propagators have written. */
  readonly caller?: Readonly<Record<string, unknown>>;
  /**
   * The `error.type` of an exception of the work; null for one that is no error. The `code` of the exception when absent. Called only where
   * a span is made.
   */
  readonly errorType?: (error: unknown) => string | null;
}

/**
 * Where spans and metrics of a runtime, its sessions and its agents go: an OpenTelemetry tracer and meter. Spans of a runtime nest
 * only if the SDK has a context manager, as the Node SDK does. Without an SDK, spans and metrics have no effect.
 */
export class Telemetry {
  /** Whether spans hold content. */
  readonly content: boolean;
  /** The meter, for instruments of other parts. */
  readonly meter: Meter;
  /** The tracer that the application has given; null for that of its SDK. */
  readonly #given: Tracer | null;
  readonly #histograms: ReadonlyMap<string, Histogram>;

  /** Register the SDK first: a meter that is taken before has no effect. Throws `ConfigError` (`ERR_CONFIG`) for unknown options. */
  constructor(options: TelemetryOptions = {}) {
    checkTelemetry('the options of telemetry', options);
    const { tracer = null, meter = metrics.getMeter(SCOPE), content = false } = options;
    this.content = content;
    this.meter = meter;
    this.#given = tracer;
    this.#histograms = new Map(Object.entries(HISTOGRAMS).map(([name, init]) => [name, meter.createHistogram(name, init)]));
  }

  /** Does the work in a new span, which is active in everything that the work starts. Ends the span with the work. */
  span<T>(init: SpanInit, work: (span: Span) => Promise<T>): Promise<T> {
    const nests = canNest();
    // Taken at each span: a copy of the API gives the tracer of an SDK only once that SDK is registered.
    const tracer = this.#given ?? (nests || hasProvider() ? trace.getTracer(SCOPE) : null);
    return tracer === null ? work(NO_SPAN) : this.#traced(init, tracer, nests, work);
  }

  async #traced<T>(
    { name, kind = SpanKind.INTERNAL, attributes, caller, errorType = codeOf }: SpanInit,
    tracer: Tracer,
    nests: boolean,
    work: (span: Span) => Promise<T>,
  ): Promise<T> {
    const outer = caller === undefined ? context.active() : propagation.extract(context.active(), fieldsOf(caller));
    const described = typeof attributes === 'function' ? attributes() : attributes;
    const span = tracer.startSpan(name, { kind, attributes: described }, outer);
    try {
      if (!nests) return await work(span);
      return await context.with(trace.setSpan(outer.setValue(CURRENT, this), span), work, undefined, span);
    } catch (error) {
      const type = errorType(error);
      if (type !== null) fail(span, type);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Adds a value to a histogram. The values of `attributes` must be few: names that the host has chosen, and codes. */
  record(name: HistogramName, value: number, attributes: Attributes): void {
    this.#histograms.get(name)?.record(value, attributes);
  }
}

/** The name under which the SDK lists spans and metrics of this package. */
const SCOPE = 'neuroscript-runtime';

const CURRENT = createContextKey('neuroscript-runtime telemetry');

const PROBE = ROOT_CONTEXT.setValue(CURRENT, null);
const activeContext = () => context.active();

/** Whether there is a context manager. Without one, making a context for each call costs time and has no effect. */
function canNest(): boolean {
  return context.with(PROBE, activeContext) === PROBE;
}

/** What the tracers of an application without an SDK give. */
const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
const NO_PROVIDER = new ProxyTracerProvider().getDelegate();

/**
 * Whether the application has an SDK for traces. Without one, describing a span for each call takes longer than the call's checks. The
 * library contains a copy of the API; what the application's own copy registers is of another class.
 */
function hasProvider(): boolean {
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegate() !== NO_PROVIDER;
}

/** The telemetry in whose span the current code runs, else a new one for the application's SDK. */
export function currentTelemetry(): Telemetry {
  const current = context.active().getValue(CURRENT);
  return current instanceof Telemetry ? current : new Telemetry();
}

/** Marks a span as failed. */
export function fail(span: Span, type: string): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute(ATTR.errorType, type);
}

/** Adds attributes to the span in which the current code runs, if there is one. */
export function describe(attributes: Attributes): void {
  trace.getActiveSpan()?.setAttributes(attributes);
}

/** Adds an event to the span that is open, if there is one. */
export function note(event: string, attributes: Attributes): void {
  trace.getActiveSpan()?.addEvent(event, attributes);
}

/** The active trace as the fields of a carrier (`traceparent` and others), by the propagators of the SDK; empty without one. */
export function traceFields(): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  propagation.inject(context.active(), fields);
  return fields;
}

/** Maximum length of a field of a trace; the standard of W3C allows the longest, `baggage`, that much. */
const MAX_FIELD = 8192;

/** The fields of a caller that the propagators of the SDK read. They are foreign. */
function fieldsOf(carrier: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const fields: Record<string, string> = {};
  for (const name of propagation.fields()) {
    const value = Object.hasOwn(carrier, name) ? carrier[name] : undefined;
    if (typeof value === 'string' && value.length <= MAX_FIELD) fields[name] = value;
  }
  return fields;
}

/** A code as a value of a metric. Programs and tools may raise numbers of their own, which share one value. */
export function closedCode(code: string): string {
  return code.startsWith('NS') && !isNsCode(Number(code.slice(2))) ? '_OTHER' : code;
}

/** The `code` of an error of ours, else the convention's name for any other error. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '_OTHER';
}
