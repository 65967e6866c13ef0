import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { workerPid } from '../../bench/residence.ts';
import type { LimitOptions, RunHandlers, Sandbox, SandboxResult, WorkerFiles } from '../../src/sandbox/index.ts';
import { type ErrorInfo, NeuroScriptError } from '../../src/wire/errors.ts';
import type { GuestCall, OutFrame, RunInput, TaggedJson } from '../../src/wire/protocol.ts';
import { inputOf, OK, REAL, ROGUE, withGuest } from '../sandbox/input.ts';
import type { Attack, Attacker, Step } from './attacks.ts';
import { FRAMES } from './frames.ts';

const MB = 1024 * 1024;

/** The bundles of a sandbox whose guest or worker is replaced by hostile JavaScript. Without orders it answers honestly. */
export const FILES: Readonly<Record<Attacker, WorkerFiles>> = {
  guest: withGuest(new URL('holes.js', import.meta.url)),
  worker: { worker: ROGUE, guest: REAL.guest },
};

/** Limits of an attack: small, so that each is exceeded soon. */
const LIMITS = {
  ...{ fuel: 100_000, cpuMs: 200, wallMs: 10_000, memoryBytes: 16 * MB, outputBytes: 64 * 1024, lineBytes: 16 * 1024 },
  ...{ scratchBytes: 64 * 1024, toolCalls: 5, toolMs: 5_000, toolBytes: 64 * 1024, deliveries: 10, emits: 20 },
} satisfies LimitOptions;

/**
 * Bytes by which the resident memory of the host may grow during an attack: a few frames of the largest size, garbage included. A million
 * values take up to 59 MB in a process that has done nothing else.
 */
const GROWTH = 64 * MB;
/** Bytes that the host may still hold when the attack is over. */
const KEPT = 8 * MB;

/**
 * Makes one attack and says what did not hold: the end is typed, the usage is possible, a worker that cannot be trusted is replaced
 * and counted, the host has not grown, and the next run is right. An empty list says that all of it held.
 */
export async function assault(sandbox: Sandbox, by: Attacker, attack: Attack): Promise<readonly string[]> {
  const wrong: string[] = [];
  const check = (holds: boolean, what: string): unknown => holds || wrong.push(what);
  await honest(sandbox, 'before');
  const pid = workerPid();
  const breaches = sandbox.boundaryBreaches;
  const kept = held();
  const peak = peakGrowth();
  wrong.push(...(await strike(sandbox, by, attack)));
  const growth = peak();
  check(growth < GROWTH, `the host grew by ${growth} bytes during the attack`);
  const next = await honest(sandbox, 'after');
  check(next === 'after', `the next run ended with ${JSON.stringify(next)}`);
  const { code, breach, spared = code === null && !breach } = attack.ends;
  check((workerPid() === pid) === spared, spared ? 'the worker was replaced' : 'the worker serves on');
  const counted = sandbox.boundaryBreaches - breaches;
  // A run whose worker is spoiled before its start was read begins again on a fresh worker, once, which does the same.
  check(breach ? counted === 1 || counted === 2 : counted === 0, `${counted} breaches of the boundary were counted`);
  const left = held() - kept > KEPT ? collected() - kept : 0;
  check(left <= KEPT, `the host still holds ${left} bytes`);
  check(Reflect.get({}, 'polluted') === undefined, 'a prototype of the host was changed');
  return wrong;
}

/** Makes one attack and says what is wrong with its end and its usage. */
export async function strike(sandbox: Sandbox, by: Attacker, attack: Attack): Promise<readonly string[]> {
  if (attack.query !== undefined) return endProblems(attack, await refusal(sandbox, attack));
  const seen = witness(attack);
  const sent = performance.now();
  const ended = await sandbox.run(jobOf(by, attack), seen);
  return [...endProblems(attack, ended.result.error), ...usageProblems(attack, ended, seen, performance.now() - sent)];
}

async function honest(sandbox: Sandbox, value: string): Promise<TaggedJson | undefined> {
  const { result } = await sandbox.run(inputOf('echo', { value }, { cpuMs: 5_000 }), { onOut() {}, onCall: async () => OK });
  return result.ok ? result.result : { code: result.error?.code ?? null, message: result.error?.message ?? null };
}

function limitsOf({ limits }: Attack) {
  return { ...LIMITS, ...limits };
}

function jobOf(by: Attacker, attack: Attack): RunInput {
  const { steps = [], deed, turn = false } = attack;
  const asWorker = [...(attack.unstarted === true ? [] : [{ frame: FRAMES.started }]), ...steps.map(ofWorker)];
  const orders: readonly object[] = by === 'guest' ? steps : asWorker;
  const globals = { steps: JSON.parse(JSON.stringify(orders)) };
  return {
    ...inputOf(deed ?? 'steps', globals, limitsOf(attack)),
    turn,
    ...(attack.measured === true ? { probe: { trace: true } } : {}),
  };
}

/** A step of the guest as one of the worker: the worker sends the guest's result in a frame. */
function ofWorker({ end, ...step }: Step): object {
  if (typeof end !== 'object') return step;
  const { usage } = FRAMES.result;
  const { fuel, peakMemoryBytes, toolCalls, outputBytes } = { ...usage, ...end };
  return { frame: { ...FRAMES.result, result: end, usage: { ...usage, fuel, peakMemoryBytes, toolCalls, outputBytes } } };
}

/** Handlers that keep the output, as a runtime does, and count the calls. */
function witness({ unanswered, asked }: Attack): RunHandlers & { readonly out: OutFrame[]; readonly calls: GuestCall[] } {
  const out: OutFrame[] = [];
  const calls: GuestCall[] = [];
  return {
    out,
    calls,
    onOut: (frame) => void out.push(frame),
    onCall: async (call, io) => {
      calls.push(call);
      if (unanswered === true) await new Promise(() => {});
      if (asked === true) await io.getVar('x');
      return OK;
    },
  };
}

/** How a question ends whose answer is the attack. */
async function refusal(
  sandbox: Sandbox,
  { steps, query }: Attack,
): Promise<Pick<ErrorInfo, 'code' | 'message' | 'limit'> | null> {
  const source = { name: 'steps', text: JSON.stringify(steps) };
  const environment = { globals: [], constants: [], tools: [] };
  const asked =
    query === 'parse'
      ? sandbox.parse([source], MB)
      : query === 'check'
        ? sandbox.check([source], MB, environment)
        : query === 'foresee'
          ? sandbox.foresee([source], MB, environment)
          : sandbox.format(source, MB);
  return asked.then(
    () => null,
    (error: unknown) => (error instanceof NeuroScriptError ? error : Promise.reject(error)),
  );
}

function endProblems(attack: Attack, error: Partial<ErrorInfo> | null): readonly string[] {
  const { ends } = attack;
  if (ends.code !== (error?.code ?? null)) return [`it ended with ${error?.code ?? 'no error'}: ${error?.message}`];
  if (error === null) return [];
  const problems: string[] = [];
  if (ends.says !== undefined && error.message?.includes(ends.says) !== true) problems.push(`the message is '${error.message}'`);
  if (JSON.stringify(error).length > 64 * 1024) problems.push('the error is large');
  if (ends.limits === undefined) return problems;
  const limit = ends.limits.find((key) => key === error.limit);
  if (limit === undefined) return [...problems, `the limit is ${error.limit}`];
  const allowed = inputOf('', {}, limitsOf(attack)).limits[limit];
  if (ends.breach && (error.allowed !== allowed || !((error.used ?? 0) > allowed)))
    problems.push(`${error.used} of ${error.allowed} were used`);
  return problems;
}

/** What the usage of a run, whatever was claimed, cannot be. */
function usageProblems(
  attack: Attack,
  { usage, result }: SandboxResult,
  { out, calls }: { readonly out: readonly OutFrame[]; readonly calls: readonly GuestCall[] },
  elapsed: number,
): readonly string[] {
  const limits = limitsOf(attack);
  const texts = out.flatMap(({ emits }) => emits);
  const emitted = texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0);
  const least = {
    fuel: calls.length * 100 + texts.length,
    outputBytes: emitted,
    toolCalls: calls.length,
    peakMemoryBytes: 0,
    cpuMs: 0,
    wallMs: 0,
  };
  const time = elapsed + 1;
  const { fuel, outputBytes, toolCalls, memoryBytes } = limits;
  const most = { fuel, outputBytes, toolCalls, peakMemoryBytes: memoryBytes, cpuMs: time * 2, wallMs: time };
  return (Object.keys(most) as (keyof typeof most)[]).flatMap((key) => {
    const used = usage[key];
    const whole = key === 'cpuMs' || key === 'wallMs' || (Number.isSafeInteger(used) && Reflect.get(result, key) === used);
    return whole && used >= least[key] && used <= most[key] ? [] : [`${key}: ${used} were used`];
  });
}

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Bytes that the host holds, garbage included. */
function held(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes that the host holds without garbage. */
function collected(): number {
  collect();
  return held();
}

/** Returns by how much the resident memory had grown at most since now. */
function peakGrowth(): () => number {
  const before = process.memoryUsage.rss();
  writeFileSync('/proc/self/clear_refs', '5');
  return () => Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024 - before;
}
