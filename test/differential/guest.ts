/** The product's interpreter in this process. It costs little for each run, because most programs take less time than their start. */
import type { Answer, Program } from '../../conformance/language/generate/programs.ts';
import type { Limits } from '../../conformance/language/interpreter/meter.ts';
import type { SourceFile } from '../../grammar/index.ts';
import { boot } from '../../src/guest/main.ts';
import { defaultLimits } from '../../src/wire/limits.ts';
import type {
  BranchEnd,
  GuestCall,
  GuestReply,
  GuestResult,
  OutFrame,
  TaggedJson,
  TogetherFrame,
  ToolGuestCall,
  Whisper,
} from '../../src/wire/protocol.ts';

/** A tree, and what a worker makes of it: the JSON that every run gets, and the parts that a run asks for. */
export interface Tree {
  readonly file: SourceFile;
  readonly head: string;
  readonly parts: readonly string[];
}

/** What a run sent to its host, and its result. */
export interface Seen {
  readonly emits: string[];
  readonly values: TaggedJson[];
  readonly whispers: Whisper[];
  readonly calls: (ToolGuestCall | Omit<ToolGuestCall, 't'>)[];
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

/** Runs a program. Its tools answer what it says, its lines are those that it has. */
export function runInGuest({ head, parts }: Tree, program: Program, limits: Limits): Seen {
  const { globals, constants, call, events, stdin } = program;
  const lines = [...(stdin ?? [])];
  const answer = answering(program);
  const seen = { emits: [] as string[], values: [] as TaggedJson[], whispers: [] as Whisper[], calls: [] as Seen['calls'] };
  const replyTo = (frame: GuestCall): GuestReply => {
    if (frame.t === 'prompt') {
      const line = lines.shift();
      if (line === undefined) return { t: 'error', code: 26, message: 'failed to get user input: end of input' };
      return { t: 'ok', value: line };
    }
    if (frame.t !== 'tool') throw new Error('generated programs ask no agents');
    seen.calls.push(frame);
    const given = answer();
    return 'code' in given ? { t: 'error', ...given } : { t: 'ok', value: given.value };
  };
  const endOf = (frame: Omit<ToolGuestCall, 't'>): BranchEnd => {
    seen.calls.push(frame);
    return answer();
  };
  const host = (text: string): string => {
    const frame: OutFrame | GuestCall | TogetherFrame = JSON.parse(text);
    if (frame.t === 'together') return JSON.stringify({ t: 'all', ends: frame.calls.map(endOf) });
    if (frame.t !== 'out') return JSON.stringify(replyTo(frame));
    seen.emits.push(...frame.emits);
    seen.values.push(...frame.values);
    seen.whispers.push(...frame.whispers);
    return '';
  };
  const rest = JSON.stringify({
    call: call === null ? null : { name: call, args: [] },
    events,
    limits: { ...DEFAULTS, ...limits },
    forkId: 'fork',
    turn: false,
    stdin: stdin !== null,
  });
  const input = `{"files":[${head}],"globals":${shared(globals)},"constants":${shared(constants)},${rest.slice(1)}`;
  const result: GuestResult = JSON.parse(
    boot(
      () => 0,
      host,
      (_, part) => parts[part] ?? '',
    )(input),
  );
  return { ...seen, result };
}
