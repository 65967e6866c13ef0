import { LoopController } from '../../src/loop/controller.ts';
import { tryOut } from '../../src/loop/replay/trial.ts';
import { runtimeExecutor } from '../../src/loop/turn/executor.ts';
import type { LoopInputEvent } from '../../src/loop/v1/dedupe.ts';
import { AskLoop } from '../../src/loop/v1/loop.ts';
import { executeV1Turn, type V1TurnRequest } from '../../src/loop/v1/turn.ts';
import { decode } from '../../src/wire/codec.ts';
import { NeuroScriptError } from '../../src/wire/errors.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import { CONTINUE, clock, command, keyring } from '../loop/sessions.ts';
import { agentOf } from '../loop/suspend/stage.ts';
import { sections } from '../loop/v1/bench.ts';
import { failed, PROBES, type Probe, type Send, type Stage, sidOf, storedUserdata, userdata } from './probes.ts';

/** What the first `emit` of an AEIOU v1 turn gave to a tool that keeps it: OUTPUT has only texts. */
async function ofTurn(stage: Stage, request: Partial<V1TurnRequest>, parts: Readonly<Record<string, string>>): Promise<unknown> {
  const { error, eventErrors, journal } = await executeV1Turn(runtimeExecutor(stage.runtime), {
    loopId: sidOf(),
    turn: 1,
    reply: sections({ ACTIONS: 'command\nset x = 1\nendcommand', ...parts }),
    userdata: null,
    ...request,
  });
  const problem = error ?? eventErrors[0]?.error ?? null;
  if (problem !== null) failed(problem);
  const [call] = journal;
  return call?.kind === 'tool' ? call.args[0] : undefined;
}

const canonical = (send: Send): Probe => ({ reader: 'canonical', send });

const controllerOf = ({ runtime, store }: Stage): LoopController =>
  new LoopController({ executor: runtimeExecutor(runtime), keyring, clock, store });

/** Answers a call that waits, continues the turn, and gives back the result of the call as the journal of the turn has it. */
async function answered(stage: Stage, tool: string, result: TaggedJson): Promise<unknown> {
  const loop = controllerOf(stage);
  const options = { agent: agentOf(command(`set x = ${tool}()`, CONTINUE)), maxTurns: 1, maxReasks: 0 };
  const { sid } = await loop.runLoop({ userdata: userdata({}), sid: sidOf(), ...options });
  await loop.complete(sid, '1.1', { result });
  const { error } = await loop.resume(sid, options);
  const [record] = await stage.store.turns(sid);
  const entry = record?.journal.find(({ kind }) => kind === 'tool');
  if (entry?.outcome.ok !== true) throw new NeuroScriptError('NS21', JSON.stringify(record?.error ?? error));
  return entry.outcome.value;
}

/** A recorded turn with a call, and what the call gives when a trial answers it so. */
async function tried(stage: Stage, result: TaggedJson): Promise<unknown> {
  const options = { agent: agentOf(command('set x = tool.t.Echo(1)', CONTINUE)), maxTurns: 1 };
  const { sid } = await controllerOf(stage).runLoop({ userdata: userdata({}), sid: sidOf(), ...options });
  const answers = new Map([['tool.t.Echo', { result }]]);
  const trial = await tryOut(stage.runtime, { sid, head: null, turns: await stage.store.turns(sid) }, { fromTurn: 1, answers });
  const record = trial.turns[0]?.tried;
  const entry = record?.journal.find(({ kind }) => kind === 'tool');
  if (entry?.outcome.ok !== true) throw new NeuroScriptError('NS21', JSON.stringify(record?.error));
  return entry.outcome.value;
}

/** Entrances that are no place of their own among the public symbols. */
export const OTHER_PROBES: Readonly<Record<string, Probe>> = {
  'the answers of a trial': { reader: 'tagged', send: (value, stage) => tried(stage, value as TaggedJson) },
};

export const SESSION_PROBES: Readonly<Record<string, Probe>> = {
  'AskLoopRun.userdata': canonical(async (value, stage) => {
    const agent = agentOf();
    const loop = new AskLoop({ executor: runtimeExecutor(stage.runtime) });
    const reply = async (): Promise<string> =>
      sections({ ACTIONS: 'command\ncall tool.t.Echo(userdata.fields.value)\nendcommand' });
    const { turns } = await loop.run({
      agent: { ...agent, reply },
      permitted: true,
      userdata: userdata({ value }),
      loopId: sidOf(),
    });
    const entry = turns[0]?.journal[0];
    return entry?.kind === 'tool' ? decode(entry.args[0] ?? null) : undefined;
  }),
  'CallAnswer.result': { reader: 'tagged', send: (value, stage) => answered(stage, 'tool.t.Wait', value as TaggedJson) },
  'LoopController.open(userdata)': canonical(async (value, stage) =>
    storedUserdata(stage, await controllerOf(stage).open(userdata({ value }), sidOf())),
  ),
  'LoopInputEvent.payload': {
    reader: 'tagged',
    send: (payload, stage) => {
      const event = { eventId: 'e1', name: 'e', source: 's', payload } as LoopInputEvent;
      return ofTurn(
        stage,
        { events: [event] },
        { EVENTS: 'on event "e" as e do\n  call tool.t.Echo(e["payload"][0]["Payload"])\nendon' },
      );
    },
  },
  'ToolInit.complete()': {
    reader: 'script',
    send: (value, stage) => {
      stage.complete = () => value;
      return answered(stage, 'tool.t.Complete', null);
    },
  },
  'V1TurnRequest.userdata': {
    reader: 'script',
    send: (value, stage) =>
      ofTurn(stage, { userdata: value as never }, { ACTIONS: 'command\ncall tool.t.Echo(userdata)\nendcommand' }),
  },
};

/** Probes whose values a store keeps. */
export const STORED: Readonly<Record<string, Probe>> = Object.fromEntries(
  Object.entries({ ...PROBES, ...SESSION_PROBES }).filter(([place]) =>
    /^(?:openSession|OpenOptions|SessionSetup|Write|LoopController|CallAnswer|ToolInit)\b/.test(place),
  ),
);
