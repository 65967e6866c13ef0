/** The product's interpreter in this process. It costs little for each run, because most programs take less time than their start. */
import type { Answer, Program } from '../../conformance/language/generate/programs.ts';
import type { Limits } from '../../conformance/language/interpreter/meter.ts';
import type { SourceFile } from '../../grammar/index.ts';
import { type CallEnd, endsOf, Gathered, type Question, runInRealm } from '../../src/engine/realm.ts';
import type { FlowInput } from '../../src/wire/labels.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type { GuestCall, GuestReply, GuestResult, TaggedJson, Whisper } from '../../src/wire/protocol.ts';

/** A tree, and what a worker makes of it: the JSON that every run gets, and the parts that a run asks for. */
export interface Tree {
  readonly file: SourceFile;
  readonly head: string;
  readonly parts: readonly string[];
}

/** What a run sent to its host, and its result. */
export interface Seen {
  readonly emits: readonly string[];
  readonly values: readonly TaggedJson[];
  readonly whispers: readonly Whisper[];
  readonly calls: readonly Extract<GuestCall, { readonly t: 'tool' }>[];
  readonly result: GuestResult;
}

const DEFAULTS = defaultLimits('run');
const jsonOf = new WeakMap<object, string>();

/** The JSON of an object that many programs share. */
function shared(value: object): string {
  const known = jsonOf.get(value);
  if (known !== undefined) return known;
  const json = JSON.stringify(value);
  jsonOf.set(value, json);
  return json;
}

/** The tools of a program, which answer what it says. */
export function answering({ answers }: Pick<Program, 'answers'>): () => Answer {
  let next = 0;
  return () => answers[next++ % answers.length] ?? { code: 3, message: 'there is no such tool' };
}

/** How a program runs under rules about origin. */
export interface UnderFlow {
  readonly flow: FlowInput;
  /** Answers calls in place of the program. */
  readonly answer?: (call: GuestCall) => CallEnd;
}

/** Runs a program. Its tools answer what it says, its lines are those that it has. */
export function runInGuest({ head, parts }: Tree, program: Program, limits: Limits, under?: UnderFlow): Seen {
  const { globals, constants, call, events, stdin } = program;
  const lines = [...(stdin ?? [])];
  const answer = answering(program);
  const out = new Gathered();
  const calls: GuestCall[] = [];
  const endOf = (frame: GuestCall): CallEnd => {
    if (frame.t === 'prompt') {
      const line = lines.shift();
      if (line === undefined) return { t: 'error', code: 26, message: 'failed to get user input: end of input' };
      return { t: 'ok', value: line };
    }
    calls.push(frame);
    if (under?.answer !== undefined) return under.answer(frame);
    const given = answer();
    return 'code' in given ? { t: 'error', ...given } : { t: 'ok', value: given.value };
  };
  const answerTo = (question: Question): GuestReply => {
    if (question.t === 'var' || (question.t === 'ask' && under === undefined))
      throw new Error('generated programs ask no agents');
    return question.t === 'together' ? endsOf(question, endOf) : endOf(question);
  };
  const rest = JSON.stringify({
    call: call === null ? null : { name: call, args: [] },
    events,
    limits: { ...DEFAULTS, ...limits },
    forkId: 'fork',
    turn: false,
    stdin: stdin !== null,
    flow: under?.flow,
  });
  const input = `{"files":[${head}],"globals":${shared(globals)},"constants":${shared(constants)},${rest.slice(1)}`;
  const result = runInRealm(input, {
    onOut: (frame) => out.add(frame),
    answer: answerTo,
    tree: (_, part) => parts[part] ?? '',
  });
  return { ...out, calls: calls.filter((frame) => frame.t === 'tool'), result };
}
