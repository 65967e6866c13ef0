import { positionAt } from '../../grammar/syntax/position.ts';
import { STEP_FUEL, textBytes } from '../wire/costs.ts';
import type { AnswerLabels } from '../wire/labels.ts';
import type { AskSpent, BranchEnd, GuestCall, GuestReply } from '../wire/protocol.ts';
import { decode, encode, encodeText } from './codec.ts';
import { excess } from './describe.ts';
import { InternalError, Stop } from './errors.ts';
import type { ArgumentLabel, Flow } from './flow/flow.ts';
import type { Label } from './flow/origins.ts';
import { type Frame, rareOf } from './frame.ts';
import type { Machine } from './machine.ts';
import { countLive } from './memory.ts';
import { utf8Bytes } from './utf8.ts';
import type { Value } from './values.ts';
import { assignByName, lookup } from './variables.ts';
import { WORK } from './work.ts';

// Calls to the host. They block, and the host may ask for variables before it answers.
const { parse, stringify } = JSON;

/** Calls a tool at `machine.at`. The host coerces the arguments and asks its policy. */
export function callTool(machine: Machine, frame: Frame, name: string, args: readonly Value[]): Value {
  admitCall(machine, name);
  // A closure for the probe of a measured run costs every call of other runs.
  if (machine.probe === null) return answerOf(machine, frame, 'tool', name, toolFields(machine, name, args));
  return exchange(machine, frame, 'tool', name, () => toolFields(machine, name, args));
}

function toolFields(machine: Machine, name: string, args: readonly Value[]): string {
  const json = `[${args.map((arg) => encode(machine, arg, 'host')).join(',')}]`;
  checkSize(machine, json, 0, `the arguments of ${name}`);
  return `"name":${encodeText(machine, name)},"args":${json}`;
}

/** A call of a `together` block with its evaluated arguments. */
export interface Branch {
  readonly name: string;
  readonly at: number;
  /** The name and the arguments, as JSON. */
  readonly fields: string;
  /** The labels of the arguments, under flow rules. */
  readonly labels: readonly ArgumentLabel[];
}

/** Writes a call at `machine.at` that will run together with others. */
export function branchOf(machine: Machine, name: string, args: readonly Value[]): Branch {
  return { name, at: machine.at, fields: toolFields(machine, name, args), labels: machine.flow?.args ?? [] };
}

/** Makes calls of tools at the same time. Returns their ends, in the order of the calls, when all have ended. */
export function callTogether(machine: Machine, frame: Frame, branches: readonly Branch[], at: number): readonly BranchEnd[] {
  const count = branches.length;
  machine.at = at;
  const { togetherCalls } = machine.limits;
  if (count > togetherCalls)
    machine.breach(
      'togetherCalls',
      count,
      excess('the block makes', count, 'calls at once', togetherCalls),
      'make the calls in several blocks, or one after another',
    );
  const calls: string[] = [];
  for (const { name, at: place, fields, labels } of branches) {
    machine.at = place;
    admitCall(machine, name, calls.length);
    countCall(machine, name);
    // Each branch is a fork of its own, so no other call has its id.
    const carried = machine.flow?.callFields(labels) ?? '';
    calls.push(`{"seq":${++machine.hostCalls},${fields},"at":${site(machine, frame, machine.newForkId())}${carried}}`);
  }
  machine.at = at;
  checkSize(machine, branches.map(({ fields }) => fields).join(''), 0, 'what is passed to calls that run together');
  const text = `{"t":"together","calls":[${calls.join(',')}]}`;
  const { reply, units } = asCall(machine, 'together', 'together', () => converse(machine, frame, text, count, count));
  if (reply.t !== 'all' || reply.ends.length !== count)
    throw new InternalError('the host answered calls that ran together with something else');
  chargeWork(machine, reply.work);
  machine.releaseText(units);
  return reply.ends;
}

/** Ends the run instead of making one call too many, in total or of its tool. So many others will be made with it. */
function admitCall(machine: Machine, name: string, others = 0): void {
  const { toolCalls, toolCallsPerTool } = machine.limits;
  const all = machine.toolCalls + others + 1;
  if (all > toolCalls) machine.breach('toolCalls', all, excess('the program called tools', all, 'times', toolCalls));
  const same = (machine.callsOf.get(name) ?? 0) + 1;
  if (same > toolCallsPerTool)
    machine.breach(
      'toolCallsPerTool',
      same,
      `${excess(`the program called ${name}`, same, 'times', toolCallsPerTool)} of one tool`,
    );
}

/** Counts a call of a tool that is written and about to be made: arguments that cannot be written fail, and the program may go on. */
function countCall({ callsOf }: Machine, name: string): void {
  callsOf.set(name, (callsOf.get(name) ?? 0) + 1);
}

const PROMPT_HINT = 'give the run standard input; to read until its end, put an on error block before the loop';

/** Asks the host for a line of input. */
export function promptUser(machine: Machine, frame: Frame, text: string): Value {
  return exchange(machine, frame, 'prompt', 'promptuser', () => `"text":${encodeText(machine, text)}`);
}

/** Runs an `ask` on the host. */
export function ask(machine: Machine, frame: Frame, model: string, prompt: Value, options: Value): Value {
  return exchange(machine, frame, 'ask', model, () => {
    const fields = `"model":${encodeText(machine, model)},"prompt":${encode(machine, prompt, 'host')},"options":${encode(machine, options, 'host')}`;
    checkSize(machine, fields, 0, 'what is asked');
    return `${fields},"left":${remaining(machine)}`;
  });
}

/** What a nested loop may use at most: all that this run has left once the call is paid for. */
function remaining(machine: Machine): string {
  const memoryBytes = Math.max(0, machine.limits.memoryBytes - countLive(machine));
  const fuel = Math.max(0, machine.fuelLeft - STEP_FUEL.host.amount);
  return stringify({ fuel, memoryBytes, toolCalls: machine.limits.toolCalls - machine.toolCalls });
}

/** Charges what a nested loop used. */
function chargeNested(machine: Machine, spent: AskSpent | undefined): void {
  if (spent === undefined) return;
  machine.toolCalls += spent.toolCalls;
  machine.pay(WORK.nested, spent.fuel);
}

/** Charges work that the host did. */
function chargeWork(machine: Machine, fuel = 0): void {
  machine.pay(WORK.nested, fuel);
}

/** Makes a call that a measured run counts by itself. */
function asCall<T>({ probe }: Machine, kind: GuestCall['t'] | 'together', name: string, run: () => T): T {
  return probe === null ? run() : probe.call(kind, name, run);
}

function exchange(machine: Machine, frame: Frame, kind: GuestCall['t'], name: string, fieldsOf: () => string): Value {
  return asCall(machine, kind, name, () => answerOf(machine, frame, kind, name, fieldsOf()));
}

function answerOf(machine: Machine, frame: Frame, kind: GuestCall['t'], name: string, fields: string): Value {
  const { flow } = machine;
  if (flow !== null && kind === 'prompt') {
    flow.risk |= flow.acc;
    flow.args = [{ all: flow.acc, entries: null }];
  }
  const carried = flow?.callFields(flow.args) ?? '';
  const call = `{"t":"${kind}","seq":${++machine.hostCalls},${fields},"at":${site(machine, frame, forkId(machine, frame))}${carried}}`;
  if (kind === 'tool') countCall(machine, name);
  const { reply, units } = converse(machine, frame, call, 1, kind === 'tool' ? 1 : 0);
  if (reply.t === 'all') throw new InternalError('the host answered one call as if it were several');
  if (flow !== null) {
    flow.acc = answerLabel(machine, flow, frame, kind === 'prompt' ? [] : flow.args, reply.labels, name);
    flow.settle(frame, flow.acc);
  }
  chargeNested(machine, reply.spent);
  chargeWork(machine, reply.work);
  if (reply.t === 'error')
    throw machine.failure(reply.code, reply.message, reply.hint ?? (kind === 'prompt' ? PROMPT_HINT : undefined));
  const value = decode(machine, reply.value);
  machine.releaseText(units);
  return value;
}

/** The label of an answer, under flow rules. What a person enters carries what the host says, and not what the person was shown. */
export function answerLabel(
  machine: Machine,
  flow: Flow,
  frame: Frame,
  args: readonly ArgumentLabel[],
  labels: AnswerLabels | undefined,
  name: string,
): Label {
  const given = args.reduce((sum, { all }) => sum | all, 0);
  const { file } = frame.place;
  return flow.answered(given, labels, name, file.name, positionAt(file.lines, machine.at).line);
}

/** UTF-16 units of the labels in a reply. The program pays for the rest of it, so that labels cost no fuel. */
function labelUnits(reply: GuestReply): number {
  const all = reply.t === 'all' ? reply.ends : reply.t === 'ok' || reply.t === 'error' ? [reply] : [];
  return all.reduce((sum, { labels }) => sum + (labels === undefined ? 0 : `"labels":${stringify(labels)},`.length), 0);
}

/** Bytes of a reply around the value in it. */
const REPLY_BYTES = '{"t":"ok","value":}'.length;

/** A reply that closes a call and that the program lives to see, and the UTF-16 units of its JSON. */
interface Closed {
  readonly reply: Extract<GuestReply, { readonly t: 'ok' | 'error' | 'all' }>;
  readonly units: number;
}

/**
 * Sends the output so far and a frame of so many calls, then answers questions of the host until a reply closes the frame. Calls of tools
 * count from here on: what a limit ends before was not made.
 */
function converse(machine: Machine, frame: Frame, call: string, calls: number, tools: number): Closed {
  machine.pay(WORK.hostCall, calls);
  machine.output.flush(true);
  machine.toolCalls += tools;
  const { at } = machine;
  let answer = machine.ports.host(call);
  for (;;) {
    const reply = parseReply(answer);
    const units = answer.length - (machine.flow === null ? 0 : labelUnits(reply));
    try {
      checkSize(machine, answer, REPLY_BYTES + (answer.length - units) / calls, 'the result of a call', calls);
      machine.pay(WORK.json, units);
      machine.allocate(textBytes(units));
    } catch (thrown) {
      // The host has ended the run. What else is used up by now, such as time, must not decide how the error reads.
      if (reply.t !== 'halt') throw thrown;
    }
    machine.at = at;
    switch (reply.t) {
      case 'ok':
      case 'error':
      case 'all':
        return { reply, units };
      case 'halt':
        throw new Stop(reply.error);
      case 'var.get':
        machine.flow?.reads(frame, reply.name, lookup(machine, frame, reply.name));
        answer = machine.ports.host(read(machine, frame, reply.name));
        break;
      case 'var.set':
        machine.flow?.sets(reply.name);
        answer = machine.ports.host(written(assignByName(machine, frame, reply.name, decode(machine, reply.value))));
        break;
      case 'const': {
        const { name, value, redefine } = reply;
        machine.flow?.defines(name);
        answer = machine.ports.host(written(machine.constants.define(name, decode(machine, value), redefine)));
        break;
      }
    }
  }
}

function read(machine: Machine, frame: Frame, name: string): string {
  const value = lookup(machine, frame, name);
  return `{"t":"var","found":${value !== undefined},"value":${encode(machine, value ?? null, 'host')},"error":null}`;
}

function written(error: string | null): string {
  return `{"t":"var","found":true,"value":null,"error":${stringify(error)}}`;
}

/** Ends the run when JSON of so many values is larger than allowed. `wrapping` bytes around each do not count. A unit takes three bytes at most. */
function checkSize(machine: Machine, json: string, wrapping: number, what: string, times = 1): void {
  const most = machine.limits.toolBytes * times;
  const bytes = (json.length * 3 > most ? utf8Bytes(machine, json) : json.length) - wrapping * times;
  if (bytes > most)
    machine.breach('toolBytes', bytes, excess(`${what} is`, bytes, 'bytes of JSON', most), 'pass less, or a reference to it');
}

/** The place of a call, with the id of its fork. */
function site(machine: Machine, frame: Frame, fork: string): string {
  const { file } = frame.place;
  const { line, column } = positionAt(file.lines, machine.at);
  return `{"fork":${stringify(fork)},"source":${stringify(file.name)},"line":${line},"column":${column}}`;
}

function forkId(machine: Machine, frame: Frame): string {
  const rare = rareOf(frame);
  rare.id ??= machine.newForkId();
  return rare.id;
}

const REPLIES: ReadonlySet<string> = new Set<GuestReply['t']>(['ok', 'error', 'all', 'halt', 'var.get', 'var.set', 'const']);

function parseReply(text: string): GuestReply {
  const reply: unknown = parse(text);
  if (!isReply(reply)) throw new InternalError('the host answered a call with something that is not a reply');
  return reply;
}

/** The worker passes on only what the host has built from validated parts, so the kind tells the form. */
function isReply(value: unknown): value is GuestReply {
  return typeof value === 'object' && value !== null && 't' in value && typeof value.t === 'string' && REPLIES.has(value.t);
}
