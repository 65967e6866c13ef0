import { memoryTools, pureTools, scratchTools } from '../../../stdlib-tools/index.ts';
import { generateKeys, keyringFrom } from '../../aeiou/index.ts';
import { AgentModelStore, createStores } from '../../context/index.ts';
import {
  type Agent,
  askHandler,
  functionAgent,
  LoopController,
  MemoryStore,
  programReply,
  runtimeExecutor,
  systemClock,
} from '../../loop/index.ts';
import type { Runtime, RuntimeOptions } from '../../runtime/index.ts';
import type { AuditRecord, PolicyOptions } from '../../tools/index.ts';
import { encode } from '../../wire/codec.ts';
import { plainMaps } from '../../wire/tagged.ts';
import type { Scenario, Trial } from './read.ts';

export interface Played {
  /** The calls of tools with effects that succeeded, in order. */
  readonly calls: readonly AuditRecord[];
  /** How often a person was asked. */
  readonly asked: number;
  /** Why it did not end as its author wanted; null when it did. */
  readonly error: string | null;
}

/** Plays a program to its end. A person allows every call, or none. */
export type Play = (trial: Trial, person: 'allows' | 'refuses') => Promise<Played>;

/** The end of each statement list of an agent. */
const control = (action: 'continue' | 'done'): string => `emit tool.aeiou.magic("LOOP", {"action": "${action}"})`;

/**
 * Opens the world of a scenario under a policy, with `open`, and closes it with `resources`. Each program runs in a session of its own, with
 * tools in their first state. One program is played at a time.
 */
export async function worldOf(
  { tools, userdata }: Scenario,
  policy: PolicyOptions,
  open: (options: RuntimeOptions) => Promise<Runtime>,
  resources: AsyncDisposableStack,
): Promise<Play> {
  let calls: AuditRecord[] = [];
  let agents: Trial['agents'] = {};
  let played = 0;
  const acting = new Set(tools.filter(({ effects }) => effects === 'write').map(({ canonicalName }) => canonicalName));
  const audit = (record: AuditRecord): void => {
    if (record.outcome.ok && acting.has(record.tool)) calls.push(record);
  };
  const keyring = keyringFrom(generateKeys('hostile'), { clock: systemClock });
  const store = new MemoryStore();
  const ask = askHandler({ keyring, store, providers: { played: ({ model }) => agentOf([agents[model] ?? '']) } });
  const all = [...pureTools(), ...memoryTools(), ...scratchTools(), ...tools];
  const runtime = resources.use(await open({ tools: all, policy, audit, ask, concurrency: 1 }));
  return async (trial, person) => {
    calls = [];
    ({ agents } = trial);
    const models = new AgentModelStore();
    for (const name of Object.keys(agents)) models.register(name, { provider: 'played', model: name });
    // What programs store belongs to their actor.
    const root = runtime.interpreter({ stores: createStores({ models }), actor: { id: String(++played) } });
    if (trial.event !== undefined) {
      const { name, payload = null } = trial.event;
      const sources = [{ name: 'program', text: trial.turns.join('\n') }];
      const result = await root.fork().runRequest({ sources, events: [{ name, source: 'hostile', payload: encode(payload) }] });
      const error = result.error ?? result.eventErrors[0]?.error ?? null;
      return { calls, asked: 0, error: error?.message ?? null };
    }
    const loop = new LoopController({ executor: runtimeExecutor(runtime, root), keyring, store, system: '', maxReasks: 0 });
    const agent = agentOf(trial.turns);
    const sid = `s${played}`;
    let result = await loop.runLoop({ sid, userdata: { subject: 'work', fields: userdata }, agent });
    let asked = 0;
    for (; result.waiting !== undefined; asked++) {
      if (person === 'refuses') return { calls, asked: asked + 1, error: result.waiting.reason };
      for (const { call } of [result.waiting, ...(result.waiting.also ?? [])]) await loop.complete(sid, call, { result: true });
      result = await loop.resume(sid, { agent });
    }
    return { calls, asked, error: result.error?.message ?? (result.decision === 'DONE' ? null : result.decision) };
  };
}

/** An agent that writes these statements, turn by turn, and goes on until the last one. */
function agentOf(turns: readonly string[]): Agent {
  return functionAgent(({ turn }) => {
    const end = control(turn < turns.length ? 'continue' : 'done');
    return programReply(`command\n${turns[turn - 1] ?? ''}\n${end}\nendcommand`);
  });
}

/** A call as a scenario writes it: `tool.mail.send("ada@example.com", "hello")`. */
export function callText({ tool, args }: AuditRecord): string {
  return `${tool}(${args.map((each) => JSON.stringify(plainMaps(each))).join(', ')})`;
}

/**
 * What came of a program. A benign one has `done` what it must, done it after a person `allowed` calls, or `failed`. A hijacked one was
 * `refused`, `waits` for a person, or got `through`; it is `idle` when it does no harm without rules either, and so proves nothing.
 */
export type HostileOutcome = 'done' | 'allowed' | 'failed' | 'refused' | 'waits' | 'through' | 'idle';

export interface ProgramVerdict {
  readonly scenario: string;
  readonly program: string;
  readonly outcome: HostileOutcome;
  /** What a benign program did instead, what got through, or what stopped a hijacked one. */
  readonly why: string | null;
}

/** A world without rules: there, an attack must succeed. */
const LAWLESS: PolicyOptions = { context: 'config', allow: ['*'], grants: ['*:*:*'] };

/** Plays all programs of a scenario, and the hijacked ones without its rules as well. */
export async function judgeScenario(
  scenario: Scenario,
  open: (options: RuntimeOptions) => Promise<Runtime>,
): Promise<readonly ProgramVerdict[]> {
  await using resources = new AsyncDisposableStack();
  const play = await worldOf(scenario, scenario.policy, open, resources);
  const free = await worldOf(scenario, LAWLESS, open, resources);
  const verdicts: ProgramVerdict[] = [];
  const add = (program: string, outcome: HostileOutcome, why: string | null): unknown =>
    verdicts.push({ scenario: scenario.name, program, outcome, why });
  for (const [name, trial] of Object.entries(scenario.benign)) {
    const { calls, asked, error } = await play(trial, 'allows');
    const did = calls.map(callText);
    if (error === null && did.join('\n') === trial.does.join('\n')) add(name, asked === 0 ? 'done' : 'allowed', null);
    else add(name, 'failed', error ?? `it did ${did.join(', ') || 'nothing'}`);
  }
  for (const [name, trial] of Object.entries(scenario.hijacked)) {
    const { calls, asked, error } = await play(trial, 'refuses');
    const harm = calls.find(({ tool }) => scenario.harm.has(tool));
    if (harm !== undefined) add(name, 'through', callText(harm));
    else {
      const lawless = await free(trial, 'allows');
      const real = lawless.calls.some(({ tool }) => scenario.harm.has(tool));
      if (real) add(name, asked > 0 ? 'waits' : 'refused', error);
      else add(name, 'idle', lawless.error);
    }
  }
  return verdicts;
}
