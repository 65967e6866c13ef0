import { decode } from '../wire/codec.ts';
import { NS_CODES, type NsCodeName } from '../wire/codes.ts';
import { ConfigError } from '../wire/errors.ts';
import type { TaggedJson } from '../wire/protocol.ts';
import { type Value, ValueError } from '../wire/values.ts';
import { isArgType } from './argtypes.ts';
import { defineTool, type Effects, type ToolDefinition, ToolError, type ToolRuntime } from './define.ts';
import { describeCall, nearestCase, sameValue } from './mockmatch.ts';
import type { ArgSpec } from './parameters.ts';
import { type Path, YamlFile } from './yaml.ts';

/** What a mock does when a case applies. */
type Answer =
  | { readonly returns: Value; readonly delayMs: number }
  | { readonly throws: { readonly code: number; readonly message: string }; readonly delayMs: number };

/** A case of a tools file: which calls it answers, and with what, one answer after the other; the last one stays. */
export interface MockCase {
  /** Values by argument name; an argument that is not named may be anything. */
  readonly when: Readonly<Record<string, Value>>;
  readonly answers: readonly [Answer, ...Answer[]];
}

const TOOL_KEYS = ['description', 'args', 'returns', 'effects', 'capabilities', 'requiresTrust', 'cases', 'otherwise'];
const ARG_KEYS = ['name', 'type', 'description', 'required', 'default'];
const ANSWER_KEYS = ['returns', 'throws', 'delayMs'];

/** Longest delay: a day, which every limit cuts short. */
const MAX_DELAY_MS = 86_400_000;

/**
 * The mock tools of a tools file (DESIGN 5), YAML or JSON: per tool its arguments and its cases, tried in order. A call
 * that no case expects is code 21 and shows the nearest case, unless `otherwise` says what to do. Values may use the tags
 * of tagged JSON. Throws {@link ConfigError} (`ERR_CONFIG`) with the file, the line and what is wrong there.
 */
export function loadMockTools(text: string, fileName: string): readonly ToolDefinition[] {
  const file = new YamlFile(text, fileName);
  const top = file.map([], file.value, ['tools']);
  const tools = file.map(['tools'], top['tools'], null);
  const names = new Set<string>();
  return Object.entries(tools).map(([name, spec]) => {
    const path = ['tools', name];
    const tool = located(file, path, () => readTool(file, path, name, spec));
    if (names.has(tool.canonicalName)) file.fail(path, 'the tool is declared twice (letter case does not count)');
    names.add(tool.canonicalName);
    return tool;
  });
}

function readTool(file: YamlFile, path: Path, name: string, value: unknown): ToolDefinition {
  const spec = file.map(path, value, TOOL_KEYS);
  const text = (key: string): string => (spec[key] === undefined ? '' : file.text([...path, key], spec[key]));
  const args = readArgs(file, [...path, 'args'], spec['args']);
  const known = args.map((arg) => arg.name);
  const cases = file
    .list([...path, 'cases'], spec['cases'] ?? [])
    .map((each, index) => readCase(file, [...path, 'cases', index], each, known));
  const otherwise = readOtherwise(file, [...path, 'otherwise'], spec['otherwise']);
  if (cases.length === 0 && otherwise === null) file.fail(path, 'needs cases or otherwise, or no call could be answered');
  const capabilities = file.list([...path, 'capabilities'], spec['capabilities'] ?? []);
  const counts = new Map<MockCase, number>();
  return defineTool({
    name,
    description: text('description'),
    args,
    returns: text('returns') || 'any',
    effects: readEffects(file, [...path, 'effects'], spec['effects']),
    capabilities: capabilities.map((each, index) => file.text([...path, 'capabilities', index], each)),
    requiresTrust: spec['requiresTrust'] === undefined ? false : file.flag([...path, 'requiresTrust'], spec['requiresTrust']),
    async run(given, runtime) {
      const called: Readonly<Record<string, Value>> = given;
      const hit = cases.find(({ when }) => Object.entries(when).every(([key, wanted]) => sameValue(wanted, called[key] ?? null)));
      if (hit === undefined) return perform(otherwise ?? unexpected(name, called, cases), runtime);
      const count = counts.get(hit) ?? 0;
      counts.set(hit, count + 1);
      return perform(hit.answers[Math.min(count, hit.answers.length - 1)] ?? hit.answers[0], runtime);
    },
  });
}

/** `args: [path, ttl?]`, or maps with the keys of an ArgSpec. A name alone may be nil or left out. */
function readArgs(file: YamlFile, path: Path, value: unknown): readonly ArgSpec[] {
  return file.list(path, value ?? []).map((item, index): ArgSpec => {
    const at = [...path, index];
    if (typeof item === 'string') return { name: item.replace(/\?$/, ''), required: false };
    const spec = file.map(at, item, ARG_KEYS);
    const type = spec['type'] ?? 'any';
    if (!isArgType(type)) return file.fail([...at, 'type'], `unknown type '${String(type)}'`);
    const fallback = spec['default'] === undefined ? {} : { default: readValue(file, [...at, 'default'], spec['default']) };
    const required = spec['required'] === undefined ? {} : { required: file.flag([...at, 'required'], spec['required']) };
    const description = spec['description'] === undefined ? '' : file.text([...at, 'description'], spec['description']);
    return { name: file.text([...at, 'name'], spec['name']), type, description, ...fallback, ...required };
  });
}

function readEffects(file: YamlFile, path: Path, value: unknown): Effects {
  if (value === undefined || value === 'write') return 'write';
  return value === 'none' || value === 'read' ? value : file.fail(path, 'must be none, read or write');
}

function readCase(file: YamlFile, path: Path, value: unknown, args: readonly string[]): MockCase {
  const spec = file.map(path, value, ['when', 'sequence', ...ANSWER_KEYS]);
  const when: Record<string, Value> = Object.create(null);
  for (const [key, wanted] of Object.entries(file.map([...path, 'when'], spec['when'] ?? {}, null))) {
    if (!args.includes(key)) file.fail([...path, 'when', key], `is no argument of the tool; it has ${args.join(', ') || 'none'}`);
    when[key] = readValue(file, [...path, 'when', key], wanted);
  }
  if (spec['sequence'] === undefined) return { when, answers: [readAnswer(file, path, spec)] };
  for (const key of ANSWER_KEYS) if (spec[key] !== undefined) file.fail([...path, key], 'cannot stand beside sequence');
  const steps = file.list([...path, 'sequence'], spec['sequence']);
  const [first, ...rest] = steps.map((step, index) => {
    const at = [...path, 'sequence', index];
    return readAnswer(file, at, file.map(at, step, ANSWER_KEYS));
  });
  return first === undefined ? file.fail([...path, 'sequence'], 'is empty') : { when, answers: [first, ...rest] };
}

function readOtherwise(file: YamlFile, path: Path, value: unknown): Answer | null {
  if (value === undefined || value === 'error') return null;
  if (typeof value === 'string') return file.fail(path, "must be 'error', or a map with returns or throws");
  return readAnswer(file, path, file.map(path, value, ANSWER_KEYS));
}

function readAnswer(file: YamlFile, path: Path, spec: Readonly<Record<string, unknown>>): Answer {
  const delayMs = readDelay(file, [...path, 'delayMs'], spec['delayMs']);
  const returns = Object.hasOwn(spec, 'returns');
  if (returns === Object.hasOwn(spec, 'throws')) {
    // What never answers needs no answer.
    if (!returns && delayMs === Number.POSITIVE_INFINITY) return { returns: null, delayMs };
    return file.fail(path, 'needs exactly one of returns and throws');
  }
  if (returns) return { returns: readValue(file, [...path, 'returns'], spec['returns']), delayMs };
  const at = [...path, 'throws'];
  const error = file.map(at, spec['throws'], ['code', 'message']);
  const message = file.text([...at, 'message'], error['message'] ?? '');
  return {
    throws: { code: readCode(file, [...at, 'code'], error['code']), message: message || 'the mock tool failed' },
    delayMs,
  };
}

/** A number of the language's table or a tool's own, or a name of the table; 21 when absent. */
function readCode(file: YamlFile, path: Path, value: unknown): number {
  if (value === undefined) return NS_CODES.ToolExecutionFailed;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && Object.hasOwn(NS_CODES, value)) return NS_CODES[value as NsCodeName];
  return file.fail(path, `must be an error code such as 9, or its name such as KeyNotFound, got ${JSON.stringify(value)}`);
}

/** Milliseconds; `never` waits until the call is given up. */
function readDelay(file: YamlFile, path: Path, value: unknown): number {
  if (value === undefined) return 0;
  if (value === 'never') return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value >= 0 && value <= MAX_DELAY_MS) return value;
  return file.fail(path, `must be milliseconds from 0 to ${MAX_DELAY_MS}, or 'never'`);
}

/** A value of the file, with the tags of tagged JSON. */
function readValue(file: YamlFile, path: Path, value: unknown): Value {
  // What YAML's core schema yields is JSON but for NaN and infinities, which decode passes on as the numbers they are.
  return located(file, path, () => decode((value ?? null) as TaggedJson));
}

/** Puts the file and the line in front of what a definition or a value is refused for. */
function located<T>(file: YamlFile, path: Path, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueError) return file.fail(path, error.message);
    if (error instanceof ConfigError && !error.message.startsWith(file.name)) return file.fail(path, error.message);
    throw error;
  }
}

function unexpected(name: string, called: Readonly<Record<string, Value>>, cases: readonly MockCase[]): Answer {
  const message = `the mock ${name} expects no call with ${describeCall(called)}; ${nearestCase(called, cases)}`;
  return { throws: { code: NS_CODES.ToolExecutionFailed, message }, delayMs: 0 };
}

async function perform(answer: Answer, runtime: ToolRuntime): Promise<Value> {
  if (answer.delayMs > 0) await pause(answer.delayMs, runtime.signal);
  if ('returns' in answer) return answer.returns;
  throw new ToolError(answer.throws.code, answer.throws.message);
}

/** Resolves after the time, rejects with the signal's reason when that is aborted first. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(done, ms);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    function done(): void {
      signal.removeEventListener('abort', abort);
      resolve();
    }
    signal.addEventListener('abort', abort, { once: true });
  });
}
