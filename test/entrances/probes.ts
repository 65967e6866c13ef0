import { encodeUserdata, parseStrict } from '../../src/aeiou/index.ts';
import { canonicalize } from '../../src/aeiou/json/canonical.ts';
import { type PageResult, runInPage } from '../../src/browser/engine.ts';
import { AgentModelStore, decode, encode } from '../../src/entries/index.ts';
import { openSession } from '../../src/loop/open.ts';
import { type JsonObject, PLAIN_SETUP } from '../../src/loop/sessions/setup.ts';
import { newSession, type SessionStore } from '../../src/loop/sessions/store.ts';
import { canonicalPlan } from '../../src/loop/turn/approval.ts';
import { createRuntime, type Runtime } from '../../src/runtime/index.ts';
import { callTool, ToolBench } from '../../src/testing/index.ts';
import { defineTool, type StandardSchema, type ToolDefinition, type ToolRuntime } from '../../src/tools/index.ts';
import { type ErrorInfo, NeuroScriptError } from '../../src/wire/errors.ts';
import type { TaggedJson } from '../../src/wire/protocol.ts';
import type { RunResult } from '../../src/wire/result.ts';
import { ErrorValue } from '../../src/wire/values.ts';
import type { VersionedStorage } from '../../stdlib-tools/index.ts';
import type { Reader } from './wrong.ts';

/** What probes use. */
export interface Stage extends AsyncDisposable {
  readonly runtime: Runtime;
  readonly store: SessionStore;
  readonly storage: VersionedStorage;
  /** What `tool.t.Act` does with its call. */
  act: Act;
  /** What `tool.t.Complete` makes of the answer to its call. */
  complete: (answer: unknown) => unknown;
}

type Act = (args: Readonly<Record<string, unknown>>, runtime: ToolRuntime) => unknown;

/** Sends a value through an entrance, and gives back what came out behind it, as tagged JSON. Throws for a value that is refused. */
export type Send = (value: unknown, stage: Stage) => Promise<unknown>;

/** An entrance: how it reads a value, and how to send one through it. */
export interface Probe {
  readonly reader: Reader;
  readonly send: Send;
}

/** A stage whose runtime has tools that act, repeat their argument, and wait for an answer. */
export async function openStage(store: SessionStore, storage: VersionedStorage): Promise<Stage> {
  const stage = { act: (() => null) as Act, complete: (answer: unknown) => answer };
  const pending = (_: unknown, runtime: ToolRuntime): never => runtime.pending({ reason: 'r' });
  const tools = [
    defineTool({ name: 'tool.t.Act', requiresTrust: true, effects: 'write', run: (args, runtime) => stage.act(args, runtime) }),
    defineTool({ name: 'tool.t.Echo', args: [{ name: 'value', required: false }], run: ({ value }) => value }),
    defineTool({ name: 'tool.t.Wait', run: pending }),
    defineTool({ name: 'tool.t.Complete', run: pending, complete: (answer) => stage.complete(answer) }),
  ];
  const runtime = await createRuntime({ tools, policy: { context: 'config', allow: ['*'], grants: ['*:*:*'] }, concurrency: 1 });
  return Object.assign(stage, { runtime, store, storage, [Symbol.asyncDispose]: () => runtime.close() });
}

/** A run or a call that failed, as an error. */
export function failed(error: ErrorInfo): never {
  throw new NeuroScriptError(error.code, error.message);
}

const emitted = async (running: Promise<RunResult>): Promise<unknown> => {
  const { error, eventErrors, values } = await running;
  const [first = { error }] = eventErrors;
  if (first.error !== null) failed(first.error);
  return values[0];
};

const returned = async (running: Promise<RunResult>): Promise<unknown> => {
  const { error, result } = await running;
  return error === null ? result : failed(error);
};

const command = (...lines: readonly string[]): string => ['command', ...lines, 'endcommand'].join('\n');
const IDENTITY = 'func f(needs a) means\n  return a\nendfunc\n';
const HANDLER = 'on event "e" as e do\n  emit e["payload"][0]["Payload"]\nendon\n';
const SOURCE = { name: 'src', text: command('emit v') };

/** A program that calls `tool.t.Act`, which does this. */
const acting = (act: (value: unknown) => Act, program = 'emit tool.t.Act()'): Probe => ({
  reader: 'script',
  send: (value, stage) => {
    stage.act = act(value);
    return emitted(stage.runtime.run(command(program)));
  },
});

const script = (send: Send): Probe => ({ reader: 'script', send });
const tagged = (send: Send): Probe => ({ reader: 'tagged', send });
const json = (send: Send): Probe => ({ reader: 'json', send });

const loaded = async ({ runtime }: Stage, source: string) => {
  const root = runtime.interpreter();
  await root.load(source);
  return root;
};

type Tagged = Readonly<Record<string, TaggedJson>>;

const schemaOf = (value: unknown): StandardSchema => ({
  '~standard': { version: 1, vendor: 'test', validate: () => ({ value }) },
});

const paged = ({ error, result, values }: PageResult): unknown =>
  error === null ? (values[0] ?? encode(result)) : failed(error);

let opened = 0;
export const sidOf = (): string => `s${++opened}`;

export const userdata = (fields: unknown): object => ({ subject: 's', fields });

export const storedUserdata = async ({ store }: Stage, sid: string): Promise<unknown> => {
  const { userdata: text } = (await store.read(sid)) ?? { userdata: 'null' };
  return JSON.parse(text).fields.value;
};

async function configurationIn(store: SessionStore, sid: string): Promise<JsonObject> {
  const { setup } = await store.claim(sid, { owner: 'probe', ms: 1000 });
  return setup.configuration ?? {};
}

const bench = async (vars: Readonly<Record<string, unknown>>, run: (made: ToolBench) => Promise<unknown>): Promise<unknown> => {
  const tools: readonly ToolDefinition[] = [
    defineTool({ name: 'tool.t.Echo', args: [{ name: 'value', required: false }], run: ({ value }) => value }),
    defineTool({ name: 'tool.t.Var', run: async (_, runtime) => (await runtime.getVar('v')) ?? null }),
  ];
  await using made = new ToolBench(tools, { vars });
  return encode(await run(made));
};

/** Every entrance that takes values of any kind, by its place among the public symbols. */
export const PROBES: Readonly<Record<string, Probe>> = {
  'ArgSpec.default': script(async (value, { runtime }) => {
    const tool = defineTool({
      name: 'tool.d.Fault',
      args: [{ name: 'a', required: false, default: value as never }],
      run: ({ a }) => a,
    });
    return emitted(runtime.run(command('emit tool.d.Fault()'), { tools: [tool] }));
  }),
  'EventInput.payload': tagged((payload, { runtime }) =>
    emitted(
      runtime
        .interpreter()
        .fork()
        .runRequest({
          sources: [{ name: 'h', text: HANDLER }],
          events: [{ name: 'e', source: 's', payload: payload as TaggedJson }],
        }),
    ),
  ),
  'Fork.emitEvent(payload)': script(async (payload, stage) =>
    emitted((await loaded(stage, HANDLER)).fork().emitEvent('e', 's', payload)),
  ),
  'Fork.run(args)': script(async (value, stage) => returned((await loaded(stage, IDENTITY)).fork().run('f', [value]))),
  'Interpreter.defineConstant(value)': script((value, { runtime }) => {
    const root = runtime.interpreter();
    root.defineConstant('v', value);
    return emitted(root.execute(SOURCE.text));
  }),
  'Interpreter.emitEvent(payload)': script(async (payload, stage) =>
    emitted((await loaded(stage, HANDLER)).emitEvent('e', 's', payload)),
  ),
  'Interpreter.run(args)': script(async (value, stage) => returned((await loaded(stage, IDENTITY)).run('f', [value]))),
  'Interpreter.setGlobal(value)': script((value, { runtime }) => {
    const root = runtime.interpreter();
    root.setGlobal('v', value);
    return emitted(root.execute(SOURCE.text));
  }),
  'PageRunOptions.call.args': tagged(async (value) =>
    paged(runInPage(IDENTITY, { call: { name: 'f', args: [value as TaggedJson] } })),
  ),
  'PageRunOptions.globals': tagged(async (value) => paged(runInPage(SOURCE.text, { globals: { v: value as TaggedJson } }))),
  'PageTool()': script(async (value) =>
    paged(runInPage(command('emit tool.t.Give()'), { tools: { 'tool.t.Give': () => value as never } })),
  ),
  'RunOptions.call.args': script((value, { runtime }) => returned(runtime.run(IDENTITY, { call: { name: 'f', args: [value] } }))),
  'RunOptions.values': script((v, { runtime }) => emitted(runtime.run(SOURCE.text, { values: { v } }))),
  'RunRequest.call.args': tagged((value, { runtime }) =>
    returned(
      runtime
        .interpreter()
        .fork()
        .runRequest({ sources: [{ name: 'f', text: IDENTITY }], call: { name: 'f', args: [value as TaggedJson] } }),
    ),
  ),
  'RunSettings.globals': tagged((v, { runtime }) =>
    emitted(
      runtime
        .interpreter()
        .fork()
        .runRequest({ sources: [SOURCE], globals: { v: v as TaggedJson } }),
    ),
  ),
  'StandardSchema.validate(value)': script((value, { runtime }) => {
    const tool = defineTool({ name: 'tool.s.Chema', args: { a: schemaOf(value) }, run: ({ a }) => a });
    return emitted(runtime.run(command('emit tool.s.Chema(1)'), { tools: [tool] }));
  }),
  'RunEvent.payload': script((payload, { runtime }) => emitted(runtime.run(HANDLER, { events: [{ name: 'e', payload }] }))),
  'Variable.value': tagged((value, { runtime }) =>
    emitted(
      runtime
        .interpreter()
        .fork()
        .runRequest({ sources: [SOURCE], variables: [{ name: 'v', value: value as TaggedJson }] }),
    ),
  ),
  AgentModelFields: script(async (value) => {
    const models = new AgentModelStore();
    models.register('m', { provider: 'p', model: 'm', params: { value } });
    return encode(models.get('m')?.params?.['value']);
  }),
  'SymbolTable.constants': tagged((v, { runtime }) =>
    emitted(runtime.interpreter({ symbols: { libraries: [], constants: { v: v as TaggedJson } } }).execute(SOURCE.text)),
  ),
  'ToolBench.call(args)': script((value) => bench({}, (made) => made.call('tool.t.Echo', [value]))),
  'ToolBench.vars': script((value) =>
    bench({}, (made) => {
      made.vars.set('v', value);
      return made.call('tool.t.Var');
    }),
  ),
  'ToolBenchOptions.vars': script((v) => bench({ v }, (made) => made.call('tool.t.Var'))),
  'ToolDefinition.run()': acting((value) => () => value),
  'ToolRuntime.callTool(args)': acting((value) => (_, runtime) => runtime.callTool('tool.t.Echo', [value])),
  'ToolRuntime.defineConstant(value)': acting(
    (value) => (_, runtime) => runtime.defineConstant('v', value),
    'call tool.t.Act()\nemit v',
  ),
  'ToolRuntime.setVar(value)': acting(
    (value) => (_, runtime) => runtime.setVar('v', value),
    'set v = 0\ncall tool.t.Act()\nemit v',
  ),
  'callTool(args)': script(async (value) =>
    encode(
      await callTool(
        defineTool({ name: 'tool.t.Echo', args: [{ name: 'value', required: false }], run: ({ value: given }) => given }),
        [value],
      ),
    ),
  ),
  'decodeTagged(json)': tagged(async (value) => encode(decode(value as TaggedJson))),
  'encode(value)': script(async (value) => encode(value)),
  'ErrorValue.new(fields)': script(async (value) => {
    const { $error: fields } = encode(new ErrorValue({ v: [value as never] })) as Tagged;
    return ((fields as Tagged)['v'] as readonly TaggedJson[])[0];
  }),
  'canonicalize(value)': { reader: 'canonical', send: async (value) => JSON.parse(canonicalize(value, 'doubles')) },
  'planHash(plan)': { reader: 'canonical', send: async (value) => JSON.parse(canonicalPlan(value)) },
  'encodeUserdata(value)': {
    reader: 'canonical',
    send: async (value) => (parseStrict(encodeUserdata(userdata({ value })), { numbers: 'doubles' }) as never)['fields']['value'],
  },
  'openSession(userdata)': {
    reader: 'canonical',
    send: async (value, stage) => {
      const sid = sidOf();
      await openSession(stage.store, userdata({ value }), { at: 1, sid });
      return storedUserdata(stage, sid);
    },
  },
  'OpenOptions.configuration': json(async (value, { store }) => {
    const sid = sidOf();
    await openSession(store, userdata({}), { at: 1, sid, configuration: { value } });
    return (await configurationIn(store, sid))['value'];
  }),
  'SessionSetup.configuration': json(async (value, { store }) => {
    const sid = sidOf();
    await store.create(newSession(sid, '{}'), 1, { ...PLAIN_SETUP, configuration: { value } });
    return (await configurationIn(store, sid))['value'];
  }),
  'Write.value': json(async (value, { storage }) => {
    const scope = sidOf();
    await storage.cas({ scope, key: 'k', expected: 0, value: value as TaggedJson, ttlMs: null, at: 0 });
    return (await storage.get(scope, 'k', 0))?.value;
  }),
};
