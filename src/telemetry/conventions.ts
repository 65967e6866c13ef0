import type { MetricOptions } from '@opentelemetry/api';

/**
 * The attributes of spans and metrics by the semantic conventions of OpenTelemetry for generative AI and MCP. A test compares them
 * with the published names. Attributes that the conventions do not know begin with `neuroscript.`.
 */
export const ATTR = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  conversation: 'gen_ai.conversation.id',
  agentName: 'gen_ai.agent.name',
  requestModel: 'gen_ai.request.model',
  requestStream: 'gen_ai.request.stream',
  requestMaxTokens: 'gen_ai.request.max_tokens',
  requestTemperature: 'gen_ai.request.temperature',
  responseId: 'gen_ai.response.id',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  timeToFirstChunk: 'gen_ai.response.time_to_first_chunk',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: 'gen_ai.usage.cache_read.input_tokens',
  cacheCreationTokens: 'gen_ai.usage.cache_creation.input_tokens',
  reasoningTokens: 'gen_ai.usage.reasoning.output_tokens',
  tokenType: 'gen_ai.token.type',
  systemInstructions: 'gen_ai.system_instructions',
  inputMessages: 'gen_ai.input.messages',
  outputMessages: 'gen_ai.output.messages',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolDescription: 'gen_ai.tool.description',
  toolCallId: 'gen_ai.tool.call.id',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
  mcpMethod: 'mcp.method.name',
  mcpProtocol: 'mcp.protocol.version',
  mcpSession: 'mcp.session.id',
  networkTransport: 'network.transport',
  serverAddress: 'server.address',
  serverPort: 'server.port',
  errorType: 'error.type',
} as const;

export const OWN = {
  turn: 'neuroscript.turn',
  decision: 'neuroscript.decision',
  asks: 'neuroscript.agent.asks',
  attempt: 'neuroscript.agent.attempt',
  retry: 'neuroscript.agent.retry',
  fork: 'neuroscript.fork',
  fuel: 'neuroscript.run.fuel',
  cpuTime: 'neuroscript.run.cpu_time',
  memory: 'neuroscript.run.memory',
  toolCalls: 'neuroscript.run.tool_calls',
  suspended: 'neuroscript.suspended',
  together: 'neuroscript.together',
  tries: 'neuroscript.tool.tries',
  pause: 'neuroscript.tool.pause',
} as const;

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** A run takes milliseconds, so its bounds are ten times finer. */
const RUN_SECONDS = [0.001, 0.002, 0.004, 0.008, ...SECONDS];
const CHUNK_SECONDS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
const TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864];
const FUEL = [100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000];
const BYTES = [4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14].map((power) => 4 ** power);

function histogram(unit: string, description: string, explicitBucketBoundaries: number[]): MetricOptions {
  return { unit, description, advice: { explicitBucketBoundaries } };
}

/** The histograms: units are those of UCUM, and bounds those of the conventions where they name any. */
export const HISTOGRAMS = {
  'gen_ai.client.token.usage': histogram('{token}', 'Number of input and output tokens used.', TOKENS),
  'gen_ai.client.operation.duration': histogram('s', 'GenAI operation duration.', SECONDS),
  'gen_ai.client.operation.time_to_first_chunk': histogram('s', 'Time to receive the first chunk of a reply.', CHUNK_SECONDS),
  'gen_ai.invoke_agent.duration': histogram('s', 'Duration of a session, by its agent.', SECONDS),
  'gen_ai.execute_tool.duration': histogram('s', 'Duration of a tool call.', RUN_SECONDS),
  'mcp.client.operation.duration': histogram('s', 'Duration of a request to an MCP server.', SECONDS),
  'mcp.server.operation.duration': histogram('s', 'Duration of a request of an MCP client.', SECONDS),
  'neuroscript.run.duration': histogram('s', 'Duration of a run, with its wait for a worker.', RUN_SECONDS),
  'neuroscript.run.cpu_time': histogram('s', 'CPU time of a run.', RUN_SECONDS),
  'neuroscript.run.fuel': histogram('{fuel}', 'Fuel of a run.', FUEL),
  'neuroscript.run.memory': histogram('By', 'Most bytes of script values alive at once in a run.', BYTES),
} as const;

export type HistogramName = keyof typeof HISTOGRAMS;
