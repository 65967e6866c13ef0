import { type Agent, AskLoop, runtimeExecutor, toPublicV1Loop, type V1LoopEvent, type V1LoopResult } from '../../loop/index.ts';
import { explainV1End, explainV1Turn } from '../../report/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import type { Settings } from '../config/settings.ts';
import { systemOf } from '../flags/agent.ts';
import { Recorder } from '../flags/record.ts';
import { sourcesOf } from '../flags/session.ts';
import { readSetup } from '../flags/setup.ts';
import { EXIT, type ExitCode, exitOf } from '../terminal/exit.ts';
import type { Terminal } from '../terminal/terminal.ts';

/** The flags of a v1 loop. */
type V1Flags = Settings & { readonly profile: string };

/** The agent and the USERDATA of a v1 loop. */
export interface V1Inputs {
  readonly agent: Agent;
  readonly userdata: unknown;
}

/** `loop --profile v1`: a whole Ask-Loop. */
export async function loopV1(flags: V1Flags, terminal: Terminal, { agent, userdata }: V1Inputs): Promise<ExitCode> {
  const { clock, ids } = sourcesOf(flags);
  await using resources = new AsyncDisposableStack();
  const setup = await readSetup(flags, resources, terminal);
  const recorder = await Recorder.open(flags.record);
  await using runtime = await createRuntime({ ...setup, limits: flags.limits, concurrency: 1 });
  const loop = new AskLoop({
    executor: runtimeExecutor(runtime),
    clock,
    ids,
    system: await systemOf(flags, setup, 'v1'),
    ceilings: {
      maxTurns: flags.maxTurns,
      wallMs: flags.maxTime,
      totalFuel: flags.maxFuel,
      totalTokens: flags.maxTokens,
      turnTokens: flags.maxTurnTokens,
    },
  });
  const print = (lines: readonly string[]) => {
    for (const line of lines) terminal.out.line(line);
  };
  const show = (event: V1LoopEvent) => {
    if (event.type !== 'decided') return;
    recorder?.add(event.record.journal);
    if (!flags.json) print([...explainV1Turn(event.record, event.decision, terminal.paintOut), '']);
  };
  const result = await loop.run({
    agent,
    userdata,
    permitted: flags.profile !== 'v1-once',
    signal: terminal.interrupt,
    loopId: flags.sid,
    onEvent: show,
  });
  if (flags.json) terminal.out.json(toPublicV1Loop(result));
  else print(explainV1End(result, terminal.paintOut));
  await recorder?.save(setup.tools, terminal);
  return exitOfV1(result);
}

/** The exit code, as for v3: 0 done, 10 aborted, 11 halted; for time, quotas, policy and cancellation as in a run. */
function exitOfV1({ decision, error }: V1LoopResult): ExitCode {
  if (decision === 'ABORT') return EXIT.abort;
  if (decision === 'DONE') return exitOf(error);
  const own = error !== null && ['timeout', 'quota', 'policy', 'cancelled'].includes(error.kind);
  return own ? exitOf(error) : EXIT.halt;
}
