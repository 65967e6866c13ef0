import type { Agent, AgentRequest } from '../../../src/loop/agents/agent.ts';
import { runtimeExecutor } from '../../../src/loop/turn/executor.ts';
import { AskLoop } from '../../../src/loop/v1/loop.ts';
import type { AskLoopOptions, AskLoopRun, V1LoopEvent } from '../../../src/loop/v1/options.ts';
import type { V1LoopResult } from '../../../src/loop/v1/record.ts';
import { createRuntime, type Runtime, type RuntimeOptions } from '../../../src/runtime/index.ts';

export function command(...statements: readonly string[]): string {
  return ['command', ...statements.map((line) => `  ${line}`), 'endcommand'].join('\n');
}

/** A program that emits these lines, as texts. */
export function emits(...lines: readonly string[]): string {
  return command(...lines.map((line) => `emit ${JSON.stringify(line)}`));
}

/** An AEIOU v1 reply with these sections. */
export function sections(parts: Readonly<Record<string, string>>): string {
  return Object.entries(parts)
    .map(([name, text]) => `<<<NSENVELOPE_MAGIC::${name}::v1>>>\n\`\`\`neuroscript\n${text}\n\`\`\`\n`)
    .join('\n');
}

/** Whole envelope or, of a program alone, one with that as its ACTIONS. */
function asReply(text: string): string {
  return /^<<</m.test(text) ? text : sections({ ACTIONS: text });
}

/** An agent that answers turn N with the N-th program (or reply), and with the last one after that. */
export function agentOf(...replies: readonly string[]): Agent & { readonly asked: Omit<AgentRequest, 'signal'>[] } {
  const asked: Omit<AgentRequest, 'signal'>[] = [];
  return {
    asked,
    async reply({ signal: _, ...request }) {
      asked.push(request);
      return asReply(replies[Math.min(request.turn, replies.length) - 1] ?? '');
    },
  };
}

/** A clock that stands where it is put. */
export class StillClock {
  elapsed = 0;
  now(): number {
    return 1_725_012_345_000 + this.elapsed;
  }
  monotonic(): number {
    return this.elapsed;
  }
}

/** What a test looks at after a loop. */
export interface Played {
  readonly result: V1LoopResult;
  readonly events: readonly V1LoopEvent[];
  readonly asked: readonly Omit<AgentRequest, 'signal'>[];
}

/** Plays loops on one runtime; close it when done. */
export class Stage {
  readonly runtime: Runtime;
  #loops = 0;

  constructor(runtime: Runtime) {
    this.runtime = runtime;
  }

  static async open(options: RuntimeOptions = {}): Promise<Stage> {
    return new Stage(await createRuntime({ concurrency: 1, ...options }));
  }

  async play(
    replies: readonly string[],
    { host = {}, run = {} }: { readonly host?: Partial<AskLoopOptions>; readonly run?: Partial<AskLoopRun> } = {},
  ): Promise<Played> {
    const agent = agentOf(...replies);
    const events: V1LoopEvent[] = [];
    const loop = new AskLoop({ executor: runtimeExecutor(this.runtime), ...host });
    this.#loops += 1;
    const result = await loop.run({
      agent,
      permitted: true,
      userdata: { subject: 'test', fields: {} },
      loopId: `loop-${this.#loops}`,
      onEvent: (event) => events.push(event),
      ...run,
    });
    return { result, events, asked: agent.asked };
  }
}

export function outputOf(prompt: string): string {
  const [, output = ''] =
    /<<<NSENVELOPE_MAGIC::OUTPUT::v1>>>\n([\s\S]*)\n<<<NSENVELOPE_MAGIC::USERDATA::v1>>>\n/.exec(prompt) ?? [];
  return output;
}
