/** Spans and metrics by the semantic conventions of OpenTelemetry for generative AI. */

export { ATTR, HISTOGRAMS, OWN } from './conventions.ts';
export { serverAttributes, withMcpCall, withServedCall } from './mcp.ts';
export {
  type Attributes,
  closedCode,
  codeOf,
  currentTelemetry,
  fail,
  note,
  type Span,
  type SpanInit,
  Telemetry,
  type TelemetryOptions,
} from './telemetry.ts';
