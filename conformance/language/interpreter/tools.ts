/** Calls of the host: tools, of which several may run together, and lines for `promptuser`. */
import { fromJson, type Json, jsonOf } from './json.ts';
import type { CallLabels } from './labels.ts';
import type { Machine } from './machine.ts';
import { type Place, PRICE } from './meter.ts';
import type { Labels } from './parts.ts';
import type { Value } from './values.ts';

/** What a call of a tool comes to. */
export type Answer = ({ readonly value: Json } | { readonly code: number; readonly message: string }) & {
  /** Labels that the answer brings, and those of the arguments that it does not carry on. */
  readonly labels?: { readonly adds: readonly string[]; readonly drops: readonly string[] };
};

/** Answers the calls of a run, in the order in which they begin. The arguments are JSON texts. */
export type AnswerCall = (name: string, args: readonly string[], labels: CallLabels) => Answer;

/** A call with its evaluated arguments. */
export interface ToolCall {
  readonly name: string;
  readonly args: readonly Value[];
  readonly labels: readonly Labels[];
  readonly at: Place;
}

/** UTF-16 units of the JSON around a line: `{"t":"ok","value":…}`. */
const ANSWER_UNITS = 19;

/** How the host answers when there is no line left. */
const END_OF_INPUT = { code: 26, message: 'failed to get user input: end of input' };

/** The calls of a run. */
export class Tools {
  /** The calls so far, as `name(arguments)`. */
  readonly made: string[] = [];
  readonly #machine: Machine;
  readonly #answer: AnswerCall | undefined;
  readonly #countOf = new Map<string, number>();

  constructor(machine: Machine, answer: AnswerCall | undefined) {
    this.#machine = machine;
    this.#answer = answer;
  }

  /** Makes one call. */
  call(call: ToolCall): Value {
    this.#admit(call);
    this.write(call);
    this.#count(call);
    this.#machine.meter.spend(PRICE.host, call.at);
    const answer = this.#answerOf(call);
    this.#machine.meter.spendFor(replyText(answer).length, 'json', call.at);
    return this.valueOf(answer, call);
  }

  /** Makes calls at the same time. Their values or errors are still to be worked out by {@link valueOf}. */
  callTogether(calls: readonly ToolCall[], at: Place): readonly Answer[] {
    if (calls.length === 0) return [];
    const { meter } = this.#machine;
    meter.bound('togetherCalls', calls.length, at);
    for (const call of calls) {
      this.#admit(call);
      this.#count(call);
    }
    meter.spend(PRICE.host * calls.length, at);
    const answers = calls.map((call) => this.#answerOf(call));
    meter.spendFor(`{"t":"all","ends":[${answers.map(endText).join(',')}]}`.length, 'json', at);
    return answers;
  }

  /** The next line, without the space around it. */
  line(question: string, lines: string[], at: Place): string {
    const { meter } = this.#machine;
    meter.spendFor(JSON.stringify(question).length, 'json', at);
    meter.spend(PRICE.host, at);
    const line = lines.shift();
    if (line === undefined) {
      meter.spendFor(errorText(END_OF_INPUT).length, 'json', at);
      throw this.#machine.failure(END_OF_INPUT.code, END_OF_INPUT.message, at);
    }
    meter.spendFor(ANSWER_UNITS + JSON.stringify(line).length, 'json', at);
    this.#machine.import(line, at);
    return line.trim();
  }

  /** Charges for writing the arguments and the name of a call. */
  write({ name, args, at }: ToolCall): void {
    for (const arg of args) this.#machine.export(arg, at);
    this.#machine.export(name, at);
  }

  /** The value of an answer, or its error. */
  valueOf(answer: Answer, { at, args, labels }: ToolCall): Value {
    this.#machine.origin.answered(args, labels, answer.labels);
    if ('code' in answer) throw this.#machine.failure(answer.code, answer.message, at);
    const value = fromJson(answer.value);
    this.#machine.import(value, at);
    return value;
  }

  #admit({ name, at }: ToolCall): void {
    const count = (this.#countOf.get(name) ?? 0) + 1;
    const all = [...this.#countOf.values()].reduce((sum, each) => sum + each, 1);
    this.#machine.meter.bound('toolCalls', all, at);
    this.#machine.meter.bound('toolCallsPerTool', count, at);
  }

  /** Counts a call whose arguments are written. One whose arguments cannot be written is not made. */
  #count({ name }: ToolCall): void {
    this.#countOf.set(name, (this.#countOf.get(name) ?? 0) + 1);
  }

  #answerOf({ name, args, labels }: ToolCall): Answer {
    const texts = args.map(jsonOf);
    this.made.push(`${name}(${texts.join(', ')})`);
    return (
      this.#answer?.(name, texts, this.#machine.origin.call(args, labels)) ?? { code: 3, message: `tool '${name}' not found` }
    );
  }
}

function replyText(answer: Answer): string {
  return 'code' in answer ? errorText(answer) : `{"t":"ok",${endText(answer).slice(1)}`;
}

/** The JSON of an error that answers a call. */
function errorText({ code, message }: { readonly code: number; readonly message: string }): string {
  return JSON.stringify({ t: 'error', code, message });
}

function endText(answer: Answer): string {
  return 'code' in answer
    ? JSON.stringify({ code: answer.code, message: answer.message })
    : `{"value":${JSON.stringify(answer.value)}}`;
}
