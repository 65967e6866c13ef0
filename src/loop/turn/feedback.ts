import { defined } from '../../wire/defined.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { jsonBeginning } from '../../wire/tagged.ts';
import { actionsOf, type FailedAttempt, type Problem } from '../record/record.ts';
import { rangeOf } from './problems.ts';

/** What an agent is told of an attempt that did not decide the turn: a field of USERDATA, in plain JSON. */
export interface Feedback {
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  /** How many further replies the turn may take. */
  readonly left: number;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  /** What follows for the next program. */
  readonly rule: string;
  /** `line:column` of an error at run time. */
  readonly at?: string;
  /** The procedures that were being called, the innermost first. */
  readonly stack?: readonly string[];
  /** Everything that is wrong with a rejected program, or may have caused the failure. */
  readonly problems?: readonly ProblemText[];
  /** The calls that the failed program made. */
  readonly calls?: readonly string[];
  /** The program with line numbers. */
  readonly program?: string;
  /** What was left out because there was too much of it. */
  readonly omitted?: string;
}

/** What is wrong at one place. `fix` has what to write in place of lines, such as `3` or `5-7`. */
type ProblemText = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const FIX = 'A `fix` names lines and what to write in their place.';
const REJECTED = `Nothing of this program ran. Correct every problem and reply with one envelope whose ACTIONS is the whole corrected program. ${FIX}`;
const FAILED =
  'The output of this program was discarded, and its control tokens are void. Write the whole program again, from its first statement: a ' +
  'call with the same tool and the same arguments as one below gets the recorded answer and has no second effect. Any other call is made; one of a tool with effects may wait for a person, or be refused, while a call of it below is left over. ' +
  `End with a new control token. ${FIX}`;

const REHEARSED =
  'This program ran against mocks alone, which gave the answers below: nothing that it did had an effect. Write the whole program again; it ' +
  `is rehearsed in the same way, and runs for real when it comes to its end there. ${FIX}`;
const RULES = { rejected: REJECTED, failed: FAILED, interrupted: FAILED, rehearsed: REHEARSED } as const;

/** Most characters of the program, of all calls, and of one text within them. */
const MAX = { program: 16_384, calls: 8_192, text: 400, problems: 20, fix: 4_000, stack: 10 } as const;

/** The feedback on an attempt. It is bounded, whatever the program did. */
export function feedbackOn(attempt: FailedAttempt, number: number, left: number): Feedback {
  const { error, problems, journal, end } = attempt;
  const actions = attempt.unreadable === null ? actionsOf(attempt.envelope) : null;
  const ran = end !== 'rejected';
  const [calls, omittedCalls] = ran ? callsOf(journal) : [[], 0];
  const shown = problems.slice(0, MAX.problems);
  // Line numbers only make it longer.
  const program = actions === null ? null : numbered(actions.slice(0, MAX.program + 1));
  const omitted = [
    count(omittedCalls, 'call'),
    count(problems.length - shown.length, 'problem'),
    program !== null && program.length > MAX.program ? ['the rest of the program'] : [],
  ].flat();
  return {
    attempt: number,
    left,
    code: error.code,
    message: short(error.message),
    ...defined({ hint: error.hint && short(error.hint) }),
    rule: RULES[end],
    ...(ran && error.line !== null ? { at: `${error.line}:${error.column ?? 1}` } : {}),
    ...(ran && error.stack.length > 0 ? { stack: error.stack.slice(0, MAX.stack).map(frameText) } : {}),
    ...(shown.length === 0 ? {} : { problems: shown.map((problem) => problemText(problem, actions)) }),
    ...(calls.length === 0 ? {} : { calls }),
    ...(program === null ? {} : { program: program.slice(0, MAX.program) }),
    ...(omitted.length === 0 ? {} : { omitted: omitted.join(', ') }),
  };
}

/** The feedback without its long parts. */
export function brief({ attempt, left, code, message, rule }: Feedback): Feedback {
  return { attempt, left, code, message, rule };
}

function count(number: number, what: string): readonly string[] {
  return number > 0 ? [`${number} more ${what}${number === 1 ? '' : 's'}`] : [];
}

function frameText({ name, line, column }: FailedAttempt['error']['stack'][number]): string {
  return `${short(name)} at ${line}:${column}`;
}

/** The problem with the line of the program that has it. */
function problemText({ code, line, column, message, hint, fix }: Problem, actions: string | null): ProblemText {
  const text = actions?.split('\n')[line - 1];
  return {
    at: `${line}:${column}`,
    code,
    message: short(message),
    ...defined({ text: text && short(text) }),
    ...(hint === null ? {} : { hint: short(hint) }),
    ...(fix.length === 0 || longFix(fix) ? {} : { fix: Object.fromEntries(fix.map((lines) => [rangeOf(lines), lines.text])) }),
  };
}

/** Whether a fix is too long to be told. A part of one would be wrong. */
function longFix(fix: Problem['fix']): boolean {
  return fix.reduce((sum, { text }) => sum + text.length, 0) > MAX.fix;
}

/** The calls with their answers, and how many did not fit. */
function callsOf(journal: readonly JournalEntry[]): readonly [calls: readonly string[], omitted: number] {
  const calls: string[] = [];
  let characters = 0;
  for (const entry of journal) {
    const text = callText(entry);
    characters += text.length;
    if (characters > MAX.calls) break;
    calls.push(text);
  }
  return [calls, journal.length - calls.length];
}

function callText(entry: JournalEntry): string {
  const { outcome, at } = entry;
  const answer = outcome.ok
    ? `= ${json(outcome.value)}`
    : `failed: ${short('halted' in outcome ? outcome.halted.message : `${outcome.message} (${outcome.code})`)}`;
  return `line ${at.line}: ${subjectOf(entry)} ${answer}`;
}

function subjectOf(entry: JournalEntry): string {
  if (entry.kind === 'tool') return `${entry.name}(${entry.args.map(json).join(', ')})`;
  return entry.kind === 'prompt' ? `promptuser ${json(entry.text)}` : `ask ${json(entry.model)}, ${json(entry.prompt)}`;
}

function json(value: TaggedJson): string {
  return short(jsonBeginning(value, MAX.text));
}

function numbered(actions: string): string {
  return actions
    .split('\n')
    .map((line, index) => `${index + 1}| ${line}`)
    .join('\n');
}

function short(text: string): string {
  return text.length <= MAX.text ? text : `${text.slice(0, MAX.text)}…`;
}
