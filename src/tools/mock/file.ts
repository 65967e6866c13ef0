import { kindOf, type Path } from '../../files/problem.ts';
import { decodeOrdered } from '../../wire/codec.ts';
import { NS_CODES, type NsCodeName } from '../../wire/codes.ts';
import { ConfigError } from '../../wire/errors.ts';
import type { TaggedJson } from '../../wire/protocol.ts';
import { type OrderedMap, type OrderedValue, ValueError } from '../../wire/values.ts';
import { argTypeNames, isArgType } from '../define/argtypes.ts';
import type { ToolCost } from '../define/cost.ts';
import { defineTool } from '../define/define.ts';
import type { Effects, ToolDefinition } from '../define/definition.ts';
import type { ArgSpec } from '../define/parameters.ts';
import { type PendingOptions, pending } from '../pending.ts';
import { YamlFile } from '../yaml.ts';
import { type Answer, type Assignment, answerCall, type MockCase, type World } from './answer.ts';
import type { Wanted, Wants } from './match.ts';
import { perSession } from './persession.ts';
import { compile, type Template } from './template.ts';

const TOOL_KEYS = [
  'description',
  'example',
  'args',
  'returns',
  'effects',
  'cost',
  'capabilities',
  'requiresTrust',
  'requiresApproval',
  'cases',
  'otherwise',
];
const ARG_KEYS = ['name', 'type', 'description', 'required', 'default'];
const ANSWER_KEYS = ['returns', 'throws', 'pending', 'set', 'delayMs'];
const OUTCOMES = ['returns', 'throws', 'pending'];
const CASE_KEYS = ['when', 'inState', 'times', 'sequence', ...ANSWER_KEYS];

/** The longest delay: a day. The limits of a run are shorter. */
const MAX_DELAY_MS = 86_400_000;

/**
 * The mock tools of a tools file, YAML or JSON. Each tool has its arguments and its cases, which are tried in order. A call that no
 * case expects is code 21 and names the nearest case, unless the tool has `otherwise`. Values may use the tags of tagged JSON, and
 * may be computed from arguments and from the file's state. Every root interpreter and every session starts with fresh sequences and
 * state. Throws {@link ConfigError} (`ERR_CONFIG`) with the file, the line and the problem.
 */
export function loadMockTools(text: string, fileName: string): readonly ToolDefinition[] {
  const file = new YamlFile(text, fileName);
  const top = file.map([], file.value, ['tools', 'state']);
  const tools = file.map(['tools'], top['tools'], null);
  const state = readState(file, top['state']);
  const world = perSession((): World => ({ state, used: new Map() }));
  const names = new Set<string>();
  return Object.entries(tools).map(([name, spec]) => {
    const path = ['tools', name];
    const tool = located(file, path, () => readTool(file, path, name, spec, world));
    if (names.has(tool.canonicalName)) file.fail(path, 'the tool is declared twice (letter case does not count)');
    names.add(tool.canonicalName);
    return tool;
  });
}

function readState(file: YamlFile, value: unknown): OrderedMap {
  const entries = Object.entries(file.map(['state'], value ?? {}, null));
  return new Map(entries.map(([key, each]) => [key, readValue(file, ['state', key], each)]));
}

function readTool(
  file: YamlFile,
  path: Path,
  name: string,
  value: unknown,
  world: (runtime: Parameters<ToolDefinition['run']>[1]) => World,
): ToolDefinition {
  const spec = file.map(path, value, TOOL_KEYS);
  const text = (key: string): string => (spec[key] === undefined ? '' : file.text([...path, key], spec[key]));
  const args = readArgs(file, [...path, 'args'], spec['args']);
  const known = new Set(args.map((arg) => arg.name));
  const cases = file
    .list([...path, 'cases'], spec['cases'] ?? [])
    .map((each, index) => readCase(file, [...path, 'cases', index], each, known));
  const otherwise = readOtherwise(file, [...path, 'otherwise'], spec['otherwise'], known);
  if (cases.length === 0 && otherwise === null) file.fail(path, 'needs cases or otherwise, or no call could be answered');
  const capabilities = file.list([...path, 'capabilities'], spec['capabilities'] ?? []);
  const flag = (key: string): boolean => spec[key] !== undefined && file.flag([...path, key], spec[key]);
  return defineTool({
    setsVariables: false,
    name,
    description: text('description'),
    example: text('example'),
    args,
    returns: text('returns') || 'any',
    effects: readEffects(file, [...path, 'effects'], spec['effects']),
    // The definition checks it.
    cost: spec['cost'] as ToolCost | undefined,
    capabilities: capabilities.map((each, index) => file.text([...path, 'capabilities', index], each)),
    requiresTrust: flag('requiresTrust'),
    requiresApproval: flag('requiresApproval'),
    orderedMaps: true,
    run: (given: Readonly<Record<string, OrderedValue>>, runtime) =>
      answerCall({ name, cases, otherwise }, new Map(Object.entries(given)), world(runtime), runtime),
  });
}

/** `args: [path, ttl?]`, or maps with the keys of an ArgSpec. An argument given only by name may be nil or left out. */
function readArgs(file: YamlFile, path: Path, value: unknown): readonly ArgSpec[] {
  return file.list(path, value ?? []).map((item, index): ArgSpec => {
    const at = [...path, index];
    if (typeof item === 'string') return { name: item.replace(/\?$/, ''), required: false };
    const spec = file.map(at, item, ARG_KEYS);
    const type = spec['type'] ?? 'any';
    if (!isArgType(type))
      return file.fail([...at, 'type'], `unknown type '${String(type)}'; known are ${argTypeNames().join(', ')}`);
    const description = spec['description'] === undefined ? '' : file.text([...at, 'description'], spec['description']);
    return {
      name: file.text([...at, 'name'], spec['name']),
      type,
      description,
      default: spec['default'] === undefined ? undefined : readValue(file, [...at, 'default'], spec['default']),
      required: spec['required'] === undefined ? undefined : file.flag([...at, 'required'], spec['required']),
    };
  });
}

function readEffects(file: YamlFile, path: Path, value: unknown): Effects {
  if (value === undefined || value === 'write') return 'write';
  return value === 'none' || value === 'read' ? value : file.fail(path, 'must be none, read or write');
}

function readCase(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): MockCase {
  const spec = file.map(path, value, CASE_KEYS);
  const when = readWants(file, [...path, 'when'], spec['when'], args);
  for (const key of Object.keys(when))
    if (!args.has(key))
      file.fail([...path, 'when', key], `is not an argument of the tool; it has ${[...args].join(', ') || 'none'}`);
  const inState = readWants(file, [...path, 'inState'], spec['inState'], args);
  const times = spec['times'] ?? Number.POSITIVE_INFINITY;
  if (typeof times !== 'number' || !(times === Number.POSITIVE_INFINITY || (Number.isSafeInteger(times) && times >= 1)))
    return file.fail([...path, 'times'], `must be a whole number from 1, got ${kindOf(times)}`);
  const common = { when, inState, times };
  if (spec['sequence'] === undefined) return { ...common, answers: [readAnswer(file, path, spec, args)] };
  for (const key of ANSWER_KEYS) if (spec[key] !== undefined) file.fail([...path, key], 'cannot stand beside sequence');
  const steps = file.list([...path, 'sequence'], spec['sequence']);
  const [first, ...rest] = steps.map((step, index) => {
    const at = [...path, 'sequence', index];
    return readAnswer(file, at, file.map(at, step, ANSWER_KEYS), args);
  });
  return first === undefined ? file.fail([...path, 'sequence'], 'is empty') : { ...common, answers: [first, ...rest] };
}

function readWants(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): Wants {
  const wants: Record<string, Wanted> = Object.create(null);
  for (const [key, wanted] of Object.entries(file.map(path, value ?? {}, null)))
    wants[key] = readWanted(file, [...path, key], wanted, args);
  return wants;
}

/** A value, or `{ $like: pattern }`, or `{ $type: name }`. */
function readWanted(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): Wanted {
  const entries: readonly (readonly [string, unknown])[] =
    typeof value === 'object' && value !== null ? Object.entries(value) : [];
  const [name, content] = entries.length === 1 ? (entries[0] ?? []) : [];
  if (name === '$like') return { like: file.text([...path, name], content) };
  if (name !== '$type') return { equals: readTemplate(file, path, value, args) };
  const type = file.text([...path, name], content);
  if (!TYPE_NAMES.includes(type)) file.fail([...path, name], `must be one of ${TYPE_NAMES.join(', ')}`);
  return { type };
}

/** The results of `typeof` in a script. */
const TYPE_NAMES = ['nil', 'boolean', 'number', 'string', 'bytes', 'list', 'map', 'timedate', 'fuzzy', 'handle', 'error'];

function readOtherwise(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): Answer | null {
  if (value === undefined || value === 'error') return null;
  if (typeof value === 'string') return file.fail(path, "must be 'error', or a map with returns or throws");
  return readAnswer(file, path, file.map(path, value, ANSWER_KEYS), args);
}

/** A reason, or `{ reason, expiresIn }` with milliseconds. */
function readPending(file: YamlFile, path: Path, value: unknown): PendingOptions {
  const spec = typeof value === 'string' ? { reason: value } : file.map(path, value, ['reason', 'expiresIn']);
  const reason = file.text([...path, 'reason'], spec['reason']);
  const expiresIn = 'expiresIn' in spec ? spec['expiresIn'] : undefined;
  if (expiresIn !== undefined && typeof expiresIn !== 'number')
    return file.fail([...path, 'expiresIn'], 'must be whole milliseconds from 1');
  const options = { reason, expiresIn };
  located(file, path, () => pending(options));
  return options;
}

function readAnswer(file: YamlFile, path: Path, spec: Readonly<Record<string, unknown>>, args: ReadonlySet<string>): Answer {
  const delayMs = readDelay(file, [...path, 'delayMs'], spec['delayMs']);
  const set = readChanges(file, [...path, 'set'], spec['set'], args);
  const outcomes = OUTCOMES.filter((key) => Object.hasOwn(spec, key));
  if (outcomes.length !== 1) {
    // A mock that never answers needs no outcome.
    if (outcomes.length === 0 && delayMs === Number.POSITIVE_INFINITY) return { outcome: { returns: () => null }, set, delayMs };
    return file.fail(path, 'needs exactly one of returns, throws and pending');
  }
  if (outcomes[0] === 'pending')
    return { outcome: { pending: readPending(file, [...path, 'pending'], spec['pending']) }, set, delayMs };
  if (outcomes[0] === 'returns')
    return { outcome: { returns: readTemplate(file, [...path, 'returns'], spec['returns'], args) }, set, delayMs };
  const at = [...path, 'throws'];
  const error = file.map(at, spec['throws'], ['code', 'message']);
  const said = error['message'] ?? 'the mock tool failed';
  if (typeof said !== 'object') file.text([...at, 'message'], said);
  const message = readTemplate(file, [...at, 'message'], said, args);
  return { outcome: { throws: { code: readCode(file, [...at, 'code'], error['code']), message } }, set, delayMs };
}

/** `{ key: value }`, or a list of `{ at: [key, …], to: value }` for what is within. */
function readChanges(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): readonly Assignment[] {
  if (!Array.isArray(value))
    return Object.entries(file.map(path, value ?? {}, null)).map(([key, to]) => ({
      at: [() => key],
      to: readTemplate(file, [...path, key], to, args),
    }));
  return value.map((item: unknown, index) => {
    const here = [...path, index];
    const spec = file.map(here, item, ['at', 'to']);
    const steps = file.list([...here, 'at'], spec['at']);
    if (steps.length === 0) file.fail([...here, 'at'], 'is empty');
    return {
      at: steps.map((step, place) => readTemplate(file, [...here, 'at', place], step, args)),
      to: readTemplate(file, [...here, 'to'], spec['to'], args),
    };
  });
}

/** A number of the language's table or a tool's own, or a name of the table; 21 when absent. */
function readCode(file: YamlFile, path: Path, value: unknown): number {
  if (value === undefined) return NS_CODES.ToolExecutionFailed;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  if (typeof value === 'string' && Object.hasOwn(NS_CODES, value)) return NS_CODES[value as NsCodeName];
  return file.fail(path, `must be an error code such as 9, or its name such as KeyNotFound, got ${JSON.stringify(value)}`);
}

/** Milliseconds, or `never`, which waits until the call is cancelled. */
function readDelay(file: YamlFile, path: Path, value: unknown): number {
  if (value === undefined) return 0;
  if (value === 'never') return Number.POSITIVE_INFINITY;
  if (typeof value === 'number' && value >= 0 && value <= MAX_DELAY_MS) return value;
  return file.fail(path, `must be milliseconds from 0 to ${MAX_DELAY_MS}, or 'never'`);
}

function readTemplate(file: YamlFile, path: Path, value: unknown, args: ReadonlySet<string>): Template {
  return located(file, path, () => compile(value, args));
}

/** A value of the file, with the tags of tagged JSON. */
function readValue(file: YamlFile, path: Path, value: unknown): OrderedValue {
  // YAML's core schema yields JSON, and NaN and infinities, which decode passes on as numbers.
  return located(file, path, () => decodeOrdered((value ?? null) as TaggedJson));
}

/** Puts the file and the line in front of the reason why a definition or a value is refused. */
function located<T>(file: YamlFile, path: Path, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof ValueError) return file.fail(path, error.message);
    if (error instanceof ConfigError && !error.message.startsWith(file.name)) return file.fail(path, error.message);
    throw error;
  }
}
