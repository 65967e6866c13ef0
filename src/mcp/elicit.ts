import { Pending, promptUser, ToolError } from '../tools/index.ts';
import { isRecord } from '../wire/unknown.ts';
import { plainWords } from './serverschema.ts';
import type { McpCaller } from './underway.ts';

/** The answer to a form: the user's values, a refusal, or neither. */
export interface FormAnswer {
  readonly [key: string]: unknown;
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, string | number | boolean | string[]>;
}

type FieldValue = string | number | boolean | string[];

/** Most fields of one form, and most attempts at one field. */
const MAX_FIELDS = 20;
const MAX_ATTEMPTS = 3;
const [DECLINE, CANCEL] = ['/decline', '/cancel'];

/** A user's decision to stop. */
class Stopped extends Error {
  readonly action: 'decline' | 'cancel';
  constructor(action: 'decline' | 'cancel') {
    super(action);
    this.action = action;
  }
}

/**
 * Shows a server's form to the user of a call, as `promptuser` would, with one question for each field. Every question names the server
 * that asks. Without input, at its end, and once nobody waits for the answer, the answer is `cancel`; a form that cannot be shown is declined.
 */
export async function askForm(server: string, params: unknown, caller: McpCaller): Promise<FormAnswer> {
  const form = isRecord(params) ? params : {};
  // A page could imitate a part of this program.
  if (form['mode'] !== undefined && form['mode'] !== 'form') return { action: 'decline' };
  const schema = isRecord(form['requestedSchema']) ? form['requestedSchema'] : {};
  const fields = Object.entries(isRecord(schema['properties']) ? schema['properties'] : {});
  if (fields.length > MAX_FIELDS) return { action: 'decline' };
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const words = plainWords(typeof form['message'] === 'string' ? form['message'] : '');
  const head = `[MCP server '${server}' asks, in its own words; ${DECLINE} refuses, ${CANCEL} stops] ${words}`;
  try {
    caller.signal.throwIfAborted();
    const content: Record<string, FieldValue> = {};
    if (fields.length === 0) await line(caller, `${head}\nPress enter to agree:`);
    else caller.host.stdout?.write(`${head}\n`);
    for (const [name, field] of fields) {
      const value = await fieldValue(server, name, isRecord(field) ? field : {}, required.includes(name), caller);
      if (value !== null) content[name] = value;
    }
    return { action: 'accept', content };
  } catch (error) {
    if (error instanceof Stopped) return { action: error.action };
    // There is no input, or the answer would come later, which a call to a server cannot wait for.
    if (caller.signal.aborted || error instanceof ToolError || error instanceof Pending) return { action: 'cancel' };
    throw error;
  }
}

async function line({ host, signal }: McpCaller, question: string): Promise<string> {
  const text = String(await promptUser(host, question, signal));
  if (text === DECLINE) throw new Stopped('decline');
  if (text === CANCEL) throw new Stopped('cancel');
  return text;
}

type Field = Readonly<Record<string, unknown>>;

async function fieldValue(
  server: string,
  name: string,
  field: Field,
  required: boolean,
  caller: McpCaller,
): Promise<FieldValue | null> {
  const fallback = field['default'];
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const text = await line(caller, `[${server}] ${question(name, field, required)}:`);
    if (text === '' && isValue(fallback)) return fallback;
    if (text === '' && !required) return null;
    const value = readField(field, text);
    if (value !== null) return value;
    caller.host.stdout?.write(`[${server}] that does not fit\n`);
  }
  throw new Stopped('cancel');
}

function question(name: string, field: Field, required: boolean): string {
  const { title, description, default: fallback } = field;
  const choices = choicesOf(field);
  const kind =
    choices === null
      ? String(field['type'] ?? 'text')
      : choices.map(({ value, title: words }) => labelOf(value, words)).join(' | ');
  const words = [
    typeof title === 'string' ? title : name,
    typeof description === 'string' ? `- ${description}` : '',
    `(${[kind, ...(many(field) ? ['several, with commas'] : []), ...(required ? [] : ['optional'])].join('; ')})`,
    isValue(fallback) ? `[${String(fallback)}]` : '',
  ];
  return plainWords(words.filter((word) => word !== '').join(' '));
}

function labelOf(value: string, title: string): string {
  return title === value ? value : `${value} = ${title}`;
}

function many(field: Field): boolean {
  return field['type'] === 'array';
}

interface Choice {
  readonly value: string;
  readonly title: string;
}

/** The choices of a field, in any of the forms of the protocol; null for a free field. */
function choicesOf(field: Field): readonly Choice[] | null {
  const source = many(field) && isRecord(field['items']) ? field['items'] : field;
  const { enum: values, enumNames: names } = source;
  if (Array.isArray(values))
    return values.map((value, index) => ({
      value: String(value),
      title: String((Array.isArray(names) ? names[index] : undefined) ?? value),
    }));
  const titled = source['oneOf'] ?? source['anyOf'];
  if (!Array.isArray(titled)) return null;
  return titled.filter(isRecord).map((each) => ({ value: String(each['const']), title: String(each['title'] ?? each['const']) }));
}

/** The value of a line for a field; null if the line does not fit. */
function readField(field: Field, text: string): FieldValue | null {
  const choices = choicesOf(field);
  const choose = (word: string) =>
    choices?.find(({ value, title }) => value === word || title.toLowerCase() === word.toLowerCase())?.value ?? null;
  if (many(field)) {
    const chosen = text.split(',').map((word) => choose(word.trim()));
    const known = chosen.filter((value) => value !== null);
    return known.length === chosen.length ? known : null;
  }
  if (choices !== null) return choose(text);
  switch (field['type']) {
    case 'boolean':
      return readFlag(text);
    case 'integer':
    case 'number':
      return readNumber(field, text);
    default:
      return within(text.length, field['minLength'], field['maxLength']) ? text : null;
  }
}

function readFlag(text: string): boolean | null {
  const word = text.toLowerCase();
  if (['yes', 'y', 'true'].includes(word)) return true;
  return ['no', 'n', 'false'].includes(word) ? false : null;
}

function readNumber(field: Field, text: string): number | null {
  const number = text === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(number) || (field['type'] === 'integer' && !Number.isInteger(number))) return null;
  return within(number, field['minimum'], field['maximum']) ? number : null;
}

function within(amount: number, least: unknown, most: unknown): boolean {
  return !(typeof least === 'number' && amount < least) && !(typeof most === 'number' && amount > most);
}

function isValue(value: unknown): value is FieldValue {
  if (Array.isArray(value)) return value.every((each) => typeof each === 'string');
  return ['string', 'number', 'boolean'].includes(typeof value);
}
