import { ATTR, closedCode, fail, OWN, type Span, type SpanInit, type Telemetry } from '../telemetry/index.ts';
import type { RunResult } from '../wire/result.ts';
import type { RunContext } from './context.ts';

/** The span of a run. It is active in all callbacks and tools of the run. */
export function runSpan({ forkId, turn: { sessionId } }: RunContext): SpanInit {
  const attributes = { [OWN.fork]: forkId, ...(sessionId === null ? {} : { [ATTR.conversation]: sessionId }) };
  return { name: 'neuroscript.run', attributes };
}

/** Records a run that took `ms` milliseconds in the metrics and in its span. */
export function measureRun(telemetry: Telemetry, span: Span, { usage, error }: RunResult, ms: number): void {
  const attributes = error === null ? {} : { [ATTR.errorType]: closedCode(error.code) };
  telemetry.record('neuroscript.run.duration', ms / 1000, attributes);
  telemetry.record('neuroscript.run.cpu_time', usage.cpuMs / 1000, attributes);
  telemetry.record('neuroscript.run.fuel', usage.fuel, attributes);
  telemetry.record('neuroscript.run.memory', usage.peakMemoryBytes, attributes);
  if (!span.isRecording()) return;
  span.setAttributes({
    [OWN.fuel]: usage.fuel,
    [OWN.cpuTime]: usage.cpuMs / 1000,
    [OWN.memory]: usage.peakMemoryBytes,
    [OWN.toolCalls]: usage.toolCalls,
  });
  if (error?.code === 'ERR_SUSPENDED') span.setAttribute(OWN.suspended, true);
  else if (error !== null) fail(span, error.code);
}
