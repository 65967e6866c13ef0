/**
 * Spans and metrics by the semantic conventions of OpenTelemetry for generative AI. Entry point `neuroscript-runtime/telemetry`.
 */

export { Telemetry, type TelemetryOptions } from '../telemetry/index.ts';
