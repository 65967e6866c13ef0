import { Readable } from 'node:stream';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { NO_PROGRESS_YET } from '../aeiou/index.ts';
import { readTurn, runTurn, type TurnHost, toPublicTurn } from '../loop/index.ts';
import { answerRequest, type Runtime } from '../runtime/index.ts';
import { NeuroScriptError } from '../wire/errors.ts';
import { jsonText } from '../wire/maporder.ts';
import { MESSAGE_BYTES, takeIn } from './intake.ts';

/** The parts of an {@link mcpServer}, which has no limits and no policy of its own. */
export interface McpServerInit {
  /** Its tools, policy and limits apply to every program of a client. */
  readonly runtime: Runtime;
  /** Runs the turns of `turn`; its executor is the runtime. */
  readonly turns: TurnHost;
  /** Returns the tools that programs can call, as a text for a model. */
  readonly catalogue: () => string;
  readonly version: string;
}

const RUN = {
  title: 'Run a NeuroScript program',
  description:
    'Runs a NeuroScript program in a fresh sandbox, under limits. Returns its output, its result, and any error with its position. ' +
    'The tool "tools" lists what a program may call.',
  inputSchema: z.object({
    src: z.string().describe('the program: command … endcommand, or definitions together with "call"'),
    lib: z.array(z.string()).optional().describe('libraries: definitions to load first'),
    call: z.string().optional().describe('the procedure to call'),
    args: z.array(z.unknown()).optional().describe('its arguments'),
    globals: z.record(z.string(), z.unknown()).optional().describe('initial variables of the program'),
    limits: z.record(z.string(), z.number()).optional().describe('tighter limits, such as {"fuel": 100000}'),
  }),
} as const;

const CHECK = {
  title: 'Check NeuroScript programs',
  description:
    'Finds errors without running anything: syntax errors, unknown procedures and tools, and calls that the policy would refuse.',
  inputSchema: z.object({ sources: z.record(z.string(), z.string()).describe('the programs by file name') }),
} as const;

const TURN = {
  title: 'Run one AEIOU v3 turn',
  description: 'Executes an AEIOU v3 envelope and returns the decision: CONTINUE, DONE, ABORT or HALT.',
  inputSchema: z.object({
    envelope: z.string(),
    sid: z.string().optional().describe('session id; a new one if absent'),
    turn: z.number().int().min(1).default(1),
  }),
} as const;

const TOOLS = {
  title: 'List what programs can call',
  description: 'Lists the tools that a NeuroScript program can call here.',
} as const;

/**
 * Offers this runtime to any MCP host, with the tools `run`, `check`, `turn` and `tools`. Every outcome of a program is an
 * answer; `isError` marks the failures. Connect the server to a transport of the protocol's library.
 */
export function mcpServer({ runtime, turns, catalogue, version }: McpServerInit): McpServer {
  const server = new McpServer({ name: 'neuroscript', version });
  server.registerTool('run', RUN, ({ src, ...request }, { mcpReq }) =>
    answered(async () => {
      // `run --jsonl` reads the same requests and checks every field.
      const line = JSON.stringify({ id: null, src, ...request });
      const result = await answerRequest(runtime, line, { signal: mcpReq.signal });
      return { value: result, isError: !result.ok };
    }),
  );
  server.registerTool('check', CHECK, ({ sources }) =>
    answered(async () => {
      const files = Object.entries(sources).map(([name, text]) => ({ name, text }));
      const { diagnostics, findings, estimates } = await runtime.check(files);
      const isError = diagnostics.length > 0 || findings.some(({ severity }) => severity === 'error');
      return { value: { diagnostics, findings, estimates }, isError };
    }),
  );
  server.registerTool('turn', TURN, ({ envelope, sid, turn }, { mcpReq }) =>
    answered(async () => {
      const { record } = await runTurn(turns, {
        sid: sid ?? turns.ids.session(),
        turn,
        input: readTurn(Buffer.from(envelope)),
        progress: NO_PROGRESS_YET,
        signal: mcpReq.signal,
      });
      // Otherwise the resources of an ended session would stay until this server ends.
      if (record.decision !== 'CONTINUE') await turns.executor.end?.(record.sid);
      return { value: toPublicTurn(record), isError: record.decision === 'HALT' };
    }),
  );
  server.registerTool('tools', TOOLS, () => ({ content: [{ type: 'text', text: catalogue() }] }));
  return server;
}

async function answered(work: () => Promise<{ readonly value: object; readonly isError: boolean }>): Promise<CallToolResult> {
  try {
    const { value, isError } = await work();
    return { isError, content: [{ type: 'text', text: jsonText(value) }], structuredContent: { ...value } };
  } catch (error) {
    // A client can react to wrong use and to a full queue. The library reports every other error.
    if (!(error instanceof NeuroScriptError)) throw error;
    return { isError: true, content: [{ type: 'text', text: `${error.code}: ${error.message}` }] };
  }
}

/** Serves over the standard streams until the client closes them or the signal is aborted. */
export async function serveStdio(server: McpServer, signal: AbortSignal): Promise<void> {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  server.server.onclose = resolve;
  // The library's transport does not report the end of its input.
  process.stdin.once('end', resolve);
  signal.addEventListener('abort', () => resolve(), { once: true });
  const messages = Readable.from(
    takeIn(process.stdin, (line) => process.stdout.write(line)),
    { objectMode: false },
  );
  const maxBufferSize = 2 * MESSAGE_BYTES;
  await server.connect(new StdioServerTransport(messages, process.stdout, { maxBufferSize }));
  await ended;
  await server.close();
}
