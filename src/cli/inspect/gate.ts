import { JsonError } from '../../aeiou/index.ts';
import { type Attempt, parseAttempt } from '../../gate/executor/attempts.ts';
import { isUuid } from '../../gate/formats.ts';
import { parseCompleteRecord } from '../../gate/record.ts';
import { clip, counted } from '../../report/index.ts';
import { isRecord } from '../../wire/unknown.ts';
import { intentOf } from '../commands/pending.ts';
import { UsageError } from '../terminal/failure.ts';
import { type Artefact, type Flaw, type Found, firstLine, jsonOf, type Kind, listed } from './kind.ts';

/** One record of a file of the gate's queue. */
interface Entry {
  readonly id: string;
  readonly timestamp: string;
  /** Its hash, or the state of an attempt. */
  readonly detail: string;
}

interface Form {
  readonly form: 'decisions' | 'attempts' | 'pending';
  readonly title: string;
  readonly next: string;
  /** Reads one line; null or a sentence for a malformed one. */
  read(line: string): Entry | string | null;
}

const DECISIONS: Form = {
  form: 'decisions',
  title: 'a record of the gate: intents that were approved, or executed',
  next: 'approved.jsonl and executed.jsonl have one form: only the name of the file says which it is. "neuroscript gate UUID HASH" asks the gate itself.',
  read: (line) => {
    const record = parseCompleteRecord(line);
    return record === null ? null : { id: record.id, timestamp: record.timestamp ?? '', detail: record.hash ?? '' };
  },
};

const ATTEMPTS: Form = {
  form: 'attempts',
  title: "the gate's journal of attempts (attempts.jsonl)",
  next: 'An intent whose last attempt started but never ended may have been executed: check its effects by hand.',
  read: (line) => {
    const attempt: Attempt | null = parseAttempt(line);
    return attempt === null ? null : { id: attempt.id, timestamp: attempt.timestamp, detail: attempt.state };
  },
};

const PENDING: Form = {
  form: 'pending',
  title: 'plans that wait for a human (pending.jsonl)',
  next: '"neuroscript gate approve --queue DIR" shows the plans and takes a yes. Nothing in this file approves anything.',
  read: (line) => {
    try {
      const { id, timestamp, hash } = intentOf(line);
      return { id, timestamp, detail: hash };
    } catch (error) {
      if (error instanceof JsonError || error instanceof UsageError) return error.message;
      throw error;
    }
  },
};

/** The files of the gate's queue (`docs/gate.md`). */
export const GATE: Kind = {
  kind: 'gate',
  what: "a file of the gate's queue",
  recognize({ text }: Artefact): Found | string {
    if (text === null) return 'it is not text';
    const line = firstLine(text);
    const first = line.startsWith('{') ? jsonOf(line) : null;
    if (!isRecord(first) || !isUuid(first['id']) || typeof first['timestamp'] !== 'string')
      return "its first line is not a JSON object with a UUID as 'id' and a 'timestamp'";
    const form = 'plan' in first ? PENDING : 'state' in first ? ATTEMPTS : DECISIONS;
    return found(form, text.replace(/\n$/, '').split('\n'), text.endsWith('\n'));
  },
};

function found({ form, title, next, read }: Form, lines: readonly string[], finished: boolean): Found {
  const entries: Entry[] = [];
  let error: Flaw | null = null;
  for (const [index, line] of lines.entries()) {
    // A line that nests too deep could overflow the reader's stack.
    const entry = jsonOf(line) === undefined ? null : read(line);
    if (entry !== null && typeof entry !== 'string') entries.push(entry);
    else
      error ??= {
        code: 'ERR_GATE_HISTORY',
        message: entry ?? 'it is not a record, which makes the whole file invalid',
        line: index + 1,
      };
  }
  if (!finished) error ??= { code: 'ERR_GATE_HISTORY', message: 'its last line was never finished', line: lines.length };
  // The last attempt of an intent gives its state.
  const last = new Map(entries.map((entry) => [entry.id.toLowerCase(), entry]));
  const open = form === 'attempts' ? [...last.values()].filter(({ detail }) => detail === 'started') : [];
  return {
    form,
    title,
    sure: entries.length === 0 ? 'likely' : 'certain',
    error,
    report: { records: entries, intents: last.size, open: open.map(({ id }) => id) },
    lines: [
      `${counted(entries.length, 'record')} of ${counted(last.size, 'intent')}`,
      ...listed(open, ({ id, timestamp }) => [`${id} was started at ${timestamp}, and how that ended is not known`]),
      ...listed(entries, ({ id, timestamp, detail }) => [clip(`${id}  ${timestamp}  ${detail}`, 200)]),
    ],
    next,
  };
}
