import { McpServer, type ServerContext, type ToolAnnotations } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { NO_PROGRESS_YET } from '../../aeiou/index.ts';
import { agentBrief, readTurn, runTurn, type TurnHost, toPublicTurn } from '../../loop/index.ts';
import type { Runtime } from '../../runtime/index.ts';
import { withServedCall } from '../../telemetry/index.ts';
import { matchesPattern, type ToolDefinition, toolPrompt } from '../../tools/index.ts';
import { toPublicCheck } from '../../wire/findings.ts';
import { CHECK_OUTPUT, RUN_OUTPUT, TURN_OUTPUT } from './outputs.ts';
import { MemoryPrograms, type ProgramStore } from './programs.ts';
import { MOST_QUESTIONS, Questions } from './questions.ts';
import { answered, type Runner, runProgram } from './run.ts';
import { type ErrorPage, INSTRUCTIONS, RULES, teach } from './teach.ts';

/** The parts of the servers of {@link mcpServers}, which have no limits and no policy of their own. */
export interface McpServerInit {
  /** Its tools, policy and limits apply to every program of a client. */
  readonly runtime: Runtime;
  /** Runs the turns of `turn`; its executor is the runtime. */
  readonly turns: TurnHost;
  /** The tools that programs can call: those of the runtime that its policy allows. */
  readonly tools: readonly ToolDefinition[];
  /** Version of the server, which clients see. */
  readonly version: string;
  /**
   * Whether a program may ask the user of a client that can ask: with `promptuser`, and with tools that answer later. False when absent.
   */
  readonly askUser?: boolean;
  /** Stores the programs that wait for their users; the memory of this process when absent. */
  readonly programs?: ProgramStore;
  /** The page about the language, as `language` of `agentBrief`, which makes what a model learns. A bundle contains no such page. */
  readonly language?: string;
  /** Reads the pages of error codes; there are none when absent. */
  readonly errors?: () => Promise<readonly ErrorPage[]>;
}

const RUN = {
  title: 'Run a NeuroScript program',
  description:
    'Runs a NeuroScript program in a fresh sandbox, under limits. Returns its output, its result, and any error with its position. ' +
    'The tool "tools" lists what a program may call.',
  inputSchema: z.strictObject({
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
  inputSchema: z.strictObject({ sources: z.record(z.string(), z.string()).describe('the programs by file name') }),
} as const;

const TURN = {
  title: 'Run one AEIOU v3 turn',
  description: 'Executes an AEIOU v3 envelope and returns the decision: CONTINUE, DONE, ABORT or HALT.',
  inputSchema: z.strictObject({
    envelope: z.string(),
    sid: z.string().optional().describe('session id; a new one if absent'),
    turn: z.number().int().min(1).default(1),
  }),
} as const;

const TOOLS = {
  title: 'List what programs can call',
  description: 'Lists the tools that a NeuroScript program can call here, with arguments and results.',
  inputSchema: z.strictObject({
    names: z.string().optional().describe('a pattern: tool.str.* lists one group, *split* the names that contain "split"'),
    budget: z.number().int().min(100).optional().describe('most tokens of the list; a shorter form of each tool if need be'),
  }),
} as const;

/** Maximum number of sessions of `turn` whose resources are kept. */
const MOST_SESSIONS = 100;

/**
 * Offers a runtime to any MCP host, with the tools `run`, `check`, `turn` and `tools`, and with resources and a prompt from which a
 * model learns the language. Each call of the returned function makes a server for one connection. Connect it to a transport of the
 * protocol's library, or give the function to {@link serveStdio}. Throws `ConfigError` in a bundle without `language`.
 */
export function mcpServers(init: McpServerInit): () => McpServer {
  const { tools, version, language, errors = async () => [], programs = new MemoryPrograms() } = init;
  const brief = agentBrief({ rules: RULES, tools, procedures: true, language });
  const sessions = new TurnSessions(init.turns);
  const questions = new Questions(programs, init.turns.clock);
  const runner = { runtime: init.runtime, questions: init.askUser === true ? questions : null };
  const capabilities = { tools: { listChanged: false }, resources: { listChanged: false }, prompts: { listChanged: false } };
  return () => {
    const server = new McpServer(
      { name: 'neuroscript', version },
      {
        instructions: INSTRUCTIONS,
        capabilities,
        requestState: { verify: questions.verify },
        inputRequired: { maxRounds: MOST_QUESTIONS + 1 },
      },
    );
    addTools(server, init, runner, sessions);
    teach(server, { tools, brief, errors });
    return server;
  };
}

function addTools(server: McpServer, { runtime, turns, tools }: McpServerInit, runner: Runner, sessions: TurnSessions): void {
  const annotations = effectsOf(tools);
  /** Answers a call of one of the tools, in a span of the client's trace. */
  function served<Result extends object>(tool: string, context: ServerContext, work: () => Promise<Result>): Promise<Result> {
    const { mcpReq, sessionId: session } = context;
    const protocol = server.server.getNegotiatedProtocolVersion();
    return withServedCall(runtime.telemetry, { tool, meta: mcpReq._meta, protocol, session }, work);
  }
  server.registerTool('run', { ...RUN, outputSchema: RUN_OUTPUT, annotations }, ({ src, ...request }, context) =>
    // `run --jsonl` reads the same requests and checks every field.
    served('run', context, () =>
      answered(context, (progress) =>
        runProgram(runner, server, JSON.stringify({ id: null, src, ...request }), context, progress),
      ),
    ),
  );
  server.registerTool('check', { ...CHECK, outputSchema: CHECK_OUTPUT, annotations: READS_NOTHING }, ({ sources }, context) =>
    served('check', context, () =>
      answered(context, async () => {
        const files = Object.entries(sources).map(([name, text]) => ({ name, text }));
        const value = toPublicCheck(await runtime.check(files));
        return { value, isError: value.findings.some(({ severity }) => severity === 'error') };
      }),
    ),
  );
  // A turn mints a token, so the same envelope gives another answer each time.
  const turnAnnotations = { ...annotations, idempotentHint: false };
  server.registerTool('turn', { ...TURN, outputSchema: TURN_OUTPUT, annotations: turnAnnotations }, (request, context) =>
    served('turn', context, () =>
      answered(context, async ({ onOut, onCall }) => {
        const { record } = await runTurn(turns, {
          sid: request.sid ?? turns.ids.session(),
          turn: request.turn,
          input: readTurn(Buffer.from(request.envelope)),
          progress: NO_PROGRESS_YET,
          signal: context.mcpReq.signal,
          onEvent: (event) => {
            if (event.type === 'output') onOut(event.out);
            if (event.type === 'called') onCall(event.entry);
          },
        });
        await sessions.ended(record.sid, record.decision === 'CONTINUE');
        return { value: toPublicTurn(record), isError: record.decision === 'HALT' };
      }),
    ),
  );
  server.registerTool('tools', { ...TOOLS, annotations: READS_NOTHING }, ({ names = '*', budget }, context) =>
    served('tools', context, async () => {
      const chosen = tools.filter(({ canonicalName }) => matchesPattern(names, canonicalName));
      const { text } = toolPrompt(chosen, { budget });
      return { content: [{ type: 'text' as const, text: chosen.length === 0 ? `no tool has a name like ${names}` : text }] };
    }),
  );
}

/** The hints of a tool that computes and does nothing else. */
const READS_NOTHING: ToolAnnotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** The maximum effects of a program: those of the tools that it may call. */
function effectsOf(tools: readonly ToolDefinition[]): ToolAnnotations {
  const writes = tools.some(({ effects }) => effects === 'write');
  const openWorldHint = tools.some(({ effects }) => effects !== 'none');
  return { readOnlyHint: !writes, destructiveHint: writes, idempotentHint: !writes, openWorldHint };
}

/** The sessions of `turn` that may continue. Resources of all others are released, so that clients cannot fill the machine. */
class TurnSessions {
  readonly #turns: TurnHost;
  readonly #open = new Set<string>();

  constructor(turns: TurnHost) {
    this.#turns = turns;
  }

  /** Called when a turn has ended; `open` says whether its session continues. */
  async ended(sid: string, open: boolean): Promise<void> {
    this.#open.delete(sid);
    if (!open) return this.#turns.executor.end?.(sid);
    this.#open.add(sid);
    const [oldest] = this.#open;
    if (oldest === undefined || this.#open.size <= MOST_SESSIONS) return;
    this.#open.delete(oldest);
    await this.#turns.executor.end?.(oldest);
  }
}
