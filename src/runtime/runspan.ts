import { ATTR, closedCode, fail, OWN, type Telemetry } from '../telemetry/index.ts';
import type { RunResult } from '../wire/result.ts';
import type { RunContext } from './context.ts';

/** Runs in a span, which is active in all callbacks and tools of the run, and measures the run. */
export async function withRunSpan({ runtime, forkId, turn }: RunContext, run: () => Promise<RunResult>): Promise<RunResult> {
  const { telemetry } = runtime;
  const { sessionId } = turn;
  const attributes = { [OWN.fork]: forkId, ...(sessionId === null ? {} : { [ATTR.conversation]: sessionId }) };
  const begun = performance.now();
  return await telemetry.span({ name: 'neuroscript.run', attributes }, async (span) => {
    const result = await run();
    const { usage, error } = result;
    measure(telemetry, result, performance.now() - begun);
    if (!span.isRecording()) return result;
    span.setAttributes({
      [OWN.fuel]: usage.fuel,
      [OWN.cpuTime]: usage.cpuMs / 1000,
      [OWN.memory]: usage.peakMemoryBytes,
      [OWN.toolCalls]: usage.toolCalls,
    });
    if (error?.code === 'ERR_SUSPENDED') span.setAttribute(OWN.suspended, true);
    else if (error !== null) fail(span, error.code);
    return result;
  });
}

function measure(telemetry: Telemetry, { usage, error }: RunResult, ms: number): void {
  const attributes = error === null ? {} : { [ATTR.errorType]: closedCode(error.code) };
  telemetry.record('neuroscript.run.duration', ms / 1000, attributes);
  telemetry.record('neuroscript.run.cpu_time', usage.cpuMs / 1000, attributes);
  telemetry.record('neuroscript.run.fuel', usage.fuel, attributes);
  telemetry.record('neuroscript.run.memory', usage.peakMemoryBytes, attributes);
}
