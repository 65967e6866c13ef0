import { z } from 'zod';
import { CHECKPOINT_FORMAT, isReceiptKey, parseReceiptKey, RECEIPT_FORMAT, readReceipt } from '../../receipt/index.ts';
import { counted, timeText } from '../../report/index.ts';
import { isRecord, messageOf } from '../../wire/unknown.ts';
import { type Artefact, type Found, jsonOf, type Kind, unreadable, whole } from './kind.ts';

/** What is read of a checkpoint without the key that verifies it. */
const CHECKPOINT = z.object({
  statement: z.object({ kid: z.string(), at: z.number().min(0).max(8.64e15), lines: z.int().min(0), head: z.string() }),
});

/** What to read a form with, and what it is called. */
const FORMS = [
  {
    form: 'receipt',
    title: 'a receipt of a session',
    is: (value: unknown) => formatIn(value, 'manifest') === RECEIPT_FORMAT,
    read: receipt,
  },
  {
    form: 'checkpoint',
    title: 'a checkpoint of a decision log',
    is: (value: unknown) => formatIn(value, 'statement') === CHECKPOINT_FORMAT,
    read: checkpoint,
  },
  {
    form: 'key',
    title: 'a key for receipts and checkpoints',
    is: (value: unknown) => isRecord(value) && isReceiptKey(JSON.stringify(value['format'] ?? null)),
    read: key,
  },
] as const;

/** Receipts, checkpoints and the keys that sign them. No signature is verified. A private half never appears. */
export const EVIDENCE: Kind = {
  kind: 'evidence',
  what: 'a receipt, a checkpoint or a key for them',
  recognize({ text }: Artefact): Found | string {
    if (text === null) return 'it is not text';
    const value = text.includes('"neuroscript-') ? jsonOf(text) : undefined;
    const found = FORMS.find(({ is }) => is(value));
    if (found === undefined) return "its 'format' is not one of theirs";
    const { form, title, read } = found;
    try {
      return whole({ form, title, ...read(text) });
    } catch (error) {
      return { ...unreadable(title, { code: 'ERR_RECEIPT', message: messageOf(error) }), form };
    }
  },
};

function formatIn(value: unknown, name: string): unknown {
  const part = isRecord(value) ? value[name] : undefined;
  return isRecord(part) ? part['format'] : undefined;
}

function receipt(text: string) {
  const { manifest } = readReceipt(text);
  const { sid, kid, issuedAt: at, status, turns } = manifest;
  const lines = [
    `of session ${sid}, ${status}, with ${counted(turns.length, 'turn')}; claims to be signed with ${kid} on ${timeText(at)}`,
  ];
  const next = '"neuroscript receipt verify FILE --key PUBLIC" verifies it and executes its turns again.';
  return { report: { kid, at, sid, turns: turns.length }, lines, next };
}

function checkpoint(text: string) {
  const { success, data } = CHECKPOINT.safeParse(jsonOf(text));
  if (!success) throw new Error('it is malformed');
  const { kid, at, lines: count, head } = data.statement;
  const lines = [`of a log with ${counted(count, 'line')}, head ${head}; claims to be signed with ${kid} on ${timeText(at)}`];
  const next = '"neuroscript log verify LOG --since FILE --key PUBLIC" verifies it, and the log with it.';
  return { report: { kid, at, lines: count }, lines, next };
}

function key(text: string) {
  const { kid, seed } = parseReceiptKey(text);
  const hasPrivate = seed !== null;
  const lines = [hasPrivate ? `${kid}; its private half is in it, and not shown` : `${kid}; the public half, which verifies`];
  const next = hasPrivate ? 'Never share it: "neuroscript keys export-public FILE" prints the public part for others.' : null;
  return { report: { kid, private: hasPrivate }, lines, next };
}
