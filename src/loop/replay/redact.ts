import { canonicalName } from '../../tools/index.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { JournalEntry } from '../../wire/journal.ts';
import { isPlaced } from '../../wire/mapkeys.ts';
import { checker, listOf } from '../../wire/options.ts';
import { isMadeOf } from '../../wire/wildcard.ts';
import type { TurnRecord, UnsealedRecord } from '../record/record.ts';
import { joinRecord, type RecordPart, splitRecord } from '../record/split.ts';
import { redactKey } from './redactkey.ts';

/** Rules for removing content from records before they are published. */
export interface RedactionRules {
  /** Tools by name, with `*` for any characters. Their arguments and results are removed from the journal. */
  readonly tools?: readonly string[];
  /** Case-insensitive keys of maps. Their values are removed wherever they occur as JSON. */
  readonly keys?: readonly string[];
  /** Texts of at least four characters, which are removed from every text. */
  readonly values?: readonly string[];
}

const checkTexts = listOf((what, value) => {
  if (typeof value !== 'string' || value === '') throw new ConfigError(`${what} must be a text that is not empty`);
});

const checkRules = checker<RedactionRules>({ tools: checkTexts, keys: checkTexts, values: checkTexts });

/** Replaces everything that is removed. */
export const REDACTED = '[redacted]';

/** Fewest characters of a redacted text. Shorter texts match everywhere and would leave nothing readable. */
const MIN_VALUE = 4;

/** Levels of JSON within JSON that are searched. */
const MAX_LEVELS = 3;

/** Fields of a record that contain values of scripts, whose keys are redacted like other texts. */
const VALUES: ReadonlySet<string> = new Set(['globals', 'constants', 'args', 'value', 'payload', 'prompt', 'options']);

/** Removes from records what its {@link RedactionRules} name. */
export class Redaction {
  readonly #tools: readonly string[];
  readonly #keys: ReadonlySet<string>;
  readonly #values: readonly string[];

  /** Throws {@link ConfigError} (`ERR_CONFIG`) for rules of the wrong form. */
  constructor(rules: RedactionRules = {}) {
    checkRules('redaction', rules);
    const { tools = [], keys = [], values = [] } = rules;
    this.#tools = tools.map(canonicalName);
    this.#keys = new Set(keys.map((key) => key.toLowerCase()));
    this.#values = [...new Set(values.flatMap(spellings))].sort((a, b) => b.length - a.length);
    const short = values.find((value) => value.length < MIN_VALUE);
    if (short !== undefined)
      throw new ConfigError(`a redacted value needs at least ${MIN_VALUE} characters, got ${JSON.stringify(short)}`);
  }

  /** The redacted record, and the names of the parts that changed. */
  apply(record: TurnRecord): { readonly record: UnsealedRecord; readonly redacted: readonly string[] } {
    const { seal: _, erased: _erased, ...unsealed } = record;
    const redacted: string[] = [];
    const parts = splitRecord(unsealed).map(([name, value]): RecordPart => {
      // A part with such a name is a call.
      const clean = this.#clean(isCall(name) ? this.#withoutTool(value as JournalEntry) : value);
      if (JSON.stringify(clean) !== JSON.stringify(value)) redacted.push(name);
      return [name, clean];
    });
    // Redaction replaces values by texts and keeps the form of the record.
    return { record: joinRecord(parts) as UnsealedRecord, redacted };
  }

  /** Redacts any JSON. */
  clean<T>(value: T): T {
    // Redaction replaces values by texts and keeps the form.
    return this.#clean(value) as T;
  }

  #withoutTool(entry: JournalEntry): JournalEntry {
    if (entry.kind !== 'tool' || !this.#tools.some((pattern) => isMadeOf(pattern.split('*'), entry.name))) return entry;
    const { asked: _, ...rest } = entry;
    return { ...rest, args: [REDACTED], outcome: { ok: true, value: REDACTED } };
  }

  #clean(value: unknown, isValue = false): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item: unknown) => this.#clean(item, isValue));
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => {
        const key = isValue && isPlaced(name) ? name.slice(1) : name;
        const clean = isValue ? this.#text(key) : key;
        return [
          clean === key ? name : clean,
          this.#keys.has(key.toLowerCase()) ? REDACTED : this.#clean(item, isValue || VALUES.has(key)),
        ];
      }),
    );
  }

  /** Redacts a text. JSON within it, as in an envelope, is searched for keys as text. */
  #text(text: string): string {
    let clean = text;
    for (const value of this.#values) clean = clean.replaceAll(value, REDACTED);
    for (const key of this.#keys) clean = redactKey(clean, key, REDACTED);
    return clean;
  }
}

/** Whether a part of a record is a call of the turn or of one of its attempts. */
function isCall(part: string): boolean {
  const path = part.split('.');
  return path.at(path[0] === 'attempts' ? 2 : 0) === 'journal';
}

/** The spellings of a text: plain, in JSON, in JSON within JSON, and so on. */
function spellings(value: string): readonly string[] {
  const forms = [value];
  for (let level = 0; level < MAX_LEVELS; level++) forms.push(JSON.stringify(forms[level]).slice(1, -1));
  return forms;
}
