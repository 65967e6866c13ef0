import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createRuntime,
  defineTool,
  type Interpreter,
  LibraryError,
  type RunResult,
  type Runtime,
  type TurnContext,
} from '../../src/entries/index.ts';
import { rootTools, storeTools } from '../../stdlib-tools/index.ts';
import { command, func } from './sources.ts';

/** The rest of the object model, through the real sandbox: what a root and a session own, and how forks share it. */

class Table implements Disposable {
  static open = 0;
  constructor() {
    Table.open++;
  }
  [Symbol.dispose](): void {
    Table.open--;
  }
}

const TOOLS = [
  defineTool({
    name: 'tool.test.Dir',
    run: async (_args, runtime) => {
      const directory = await runtime.sandboxDir();
      await writeFile(join(directory, runtime.forkId), 'x');
      return directory;
    },
  }),
  defineTool({ name: 'tool.test.Open', run: (_args, { handles }) => handles.create('table', new Table()) }),
  defineTool({
    name: 'tool.test.Use',
    args: [{ name: 'table', type: 'handle' }],
    run: ({ table }, { handles }) => handles.get(table as never, 'table') instanceof Table,
  }),
  defineTool({
    name: 'tool.test.Key',
    description: 'what a tool that makes a request does with a key: it never returns it',
    run: (_args, { stores }) => stores.accounts.get('work')?.api_key.reveal().length ?? 0,
  }),
  defineTool({
    name: 'tool.test.Set',
    args: [{ name: 'name', type: 'string' }],
    run: ({ name }, caller) => caller.setVar(name, 1),
  }),
  defineTool({ name: 'tool.test.Leak', run: (_args, { stores }) => stores.accounts.get('work') }),
  defineTool({ name: 'tool.test.Admin', run: (_args, runtime) => runtime.adminStores().models.list() }),
  defineTool({ name: 'tool.test.Const', run: (_args, runtime) => runtime.defineConstant('sneaked', 1) }),
];

let runtime: Runtime;
let config: Runtime;
beforeAll(async () => {
  const grants = ['script:read,write', 'account:*', 'model:*'];
  const tools = [...TOOLS, ...rootTools(), ...storeTools()];
  runtime = await createRuntime({ tools, policy: { allow: ['*'], grants }, concurrency: 1 });
  config = await createRuntime({ tools, policy: { context: 'config', allow: ['*'], grants }, concurrency: 1 });
});
afterAll(async () => {
  await runtime.close();
  await config.close();
});

async function succeed(running: Promise<RunResult>): Promise<RunResult> {
  const result = await running;
  expect(result.error).toBeNull();
  return result;
}
const values = async (root: Pick<Interpreter, 'execute'>, ...lines: readonly string[]): Promise<unknown> =>
  (await succeed(root.execute(command(...lines)))).values;
const caught = (...lines: readonly string[]): readonly string[] => [
  'on error do',
  '  emit [system_error["code"], system_error["message"]]',
  '  clear_error',
  'endon',
  ...lines,
];

describe('what a session owns', () => {
  let turn: TurnContext;
  beforeEach(() => {
    turn = runtime.turn({ sessionId: 'dir-1', turnIndex: 1 });
  });
  afterEach(() => turn.close());

  it('CTX-2C-3: all forks of a session see its procedures and its one directory, other sessions another', async () => {
    const root = runtime.interpreter();
    await root.load(func('dir(returns r)', 'return tool.test.Dir()'));
    const [first, nested] = (await succeed(root.fork({ turn }).execute(command('emit tool.test.Dir()', 'emit dir()')))).values;
    const [later] = (await succeed(root.fork({ turn }).execute(command('emit dir()')))).values;
    expect([nested, later]).toEqual([first, first]);
    using other = runtime.turn({ sessionId: 'dir-2', turnIndex: 1 });
    const [foreign] = (await succeed(root.fork({ turn: other }).execute(command('emit dir()')))).values;
    expect(foreign).not.toBe(first);
    expect([existsSync(String(first)), existsSync(String(foreign))]).toEqual([true, true]);
    await runtime.endSession('dir-1');
    expect([existsSync(String(first)), existsSync(String(foreign))]).toEqual([false, true]);
    await runtime.endSession('dir-2');
    expect(existsSync(String(foreign))).toBe(false);
  });

  it('outside of any session a run has its own directory and handles, which end with it', async () => {
    const before = Table.open;
    const lines = ['emit tool.test.Dir()', 'set t = tool.test.Open()', 'emit tool.test.Use(t)'];
    const [directory, used] = (await succeed(runtime.run(command(...lines)))).values;
    expect(used).toBe(true);
    expect(existsSync(String(directory))).toBe(false);
    expect(Table.open).toBe(before);
  });

  it('a handle opens in its own session alone, and shows nothing but its kind', async () => {
    const root = runtime.interpreter();
    const opened = await succeed(root.fork({ turn }).execute(command('set t = tool.test.Open()', 'emit t', 'emit typeof(t)')));
    expect(opened.emits).toEqual(['<handle table>', 'handle']);
    expect(opened.values[0]).toEqual({ $handle: 'table' });
    const [entry] = opened.journal;
    const value = entry?.outcome.ok === true ? entry.outcome.value : null;
    const use = command('emit tool.test.Use(t)');
    const inSession = await root.fork({ turn }).runRequest({ sources: [{ name: 's', text: use }], globals: { t: value } });
    expect(inSession.values).toEqual([true]);
    using other = runtime.turn({ sessionId: 'dir-3', turnIndex: 1 });
    const elsewhere = await root.fork({ turn: other }).runRequest({ sources: [{ name: 's', text: use }], globals: { t: value } });
    expect(elsewhere.error).toMatchObject({ code: 'NS9' });
    const before = Table.open;
    await runtime.endSession('dir-1');
    expect(Table.open).toBe(before - 1);
    const ended = await root.fork({ turn }).runRequest({ sources: [{ name: 's', text: use }], globals: { t: value } });
    expect(ended.error).toMatchObject({ code: 'NS9' });
  });

  it('a script cannot make a handle: what looks like one is a map', async () => {
    const forged = '{"$handle": {"kind": "table", "id": "AAAAAAAAAAAAAAAAAAAAAA"}}';
    const [error, kind] = (
      await succeed(runtime.run(command(...caught(`set f = ${forged}`, 'emit typeof(f)', 'call tool.test.Use(f)'))))
    ).values as readonly unknown[];
    expect(error).toBe('map');
    expect(kind).toMatchObject([4, expect.stringContaining('expected handle')]);
  });
});

describe('the stores of a root', () => {
  it('CTX-3-4: an agent or an account registered in the root is visible in every fork, those made before it included', async () => {
    const root = runtime.interpreter();
    const before = root.fork();
    root.stores.models.register('Fast', { provider: 'acme', model: 'acme-1' });
    root.stores.accounts.register('work', { kind: 'llm', provider: 'acme', api_key: 'k-1' });
    const asked = ['emit tool.agentmodel.List()', 'emit tool.agentmodel.Get("FAST").model', 'emit tool.account.List()'];
    for (const fork of [before, root.fork()])
      expect((await succeed(fork.execute(command(...asked)))).values).toEqual([['Fast'], 'acme-1', ['work']]);
    const own = runtime.interpreter();
    expect(await values(own, 'emit tool.agentmodel.List()')).toEqual([[]]);
    const sharing = runtime.interpreter({ stores: root.stores });
    expect(await values(sharing, 'emit tool.agentmodel.List()')).toEqual([['Fast']]);
  });

  it('programs change them under a policy of context config alone; a key goes in and never comes out', async () => {
    const register = `call tool.account.Register("work", {"kind": "llm", "provider": "acme", "api_key": "k-4711"})`;
    const refused = await runtime.run(command(register));
    expect(refused.error).toMatchObject({ kind: 'policy', code: 'NS1003' });
    const root = config.interpreter();
    const result = await succeed(
      root.execute(command(register, 'emit tool.account.List()', 'emit tool.account.Get("WORK")', 'emit tool.test.Key()')),
    );
    expect(result.values).toEqual([['work'], { name: 'work', kind: 'llm', provider: 'acme' }, 6]);
    expect(result.emits.join()).not.toContain('4711');
    const leak = await root.execute(command('emit tool.test.Leak()'));
    expect(leak.error).toMatchObject({ code: 'NS21', message: expect.stringContaining('.api_key') });
    expect(JSON.stringify(leak)).not.toContain('k-4711');
    expect(await values(root, 'emit tool.account.Delete("work")', 'emit tool.account.Get("work")')).toEqual([true, null]);
  });

  it('a tool that requires no trust cannot change them, whatever the policy', async () => {
    const result = await config.run(command('call tool.test.Admin()'));
    expect(result.error).toMatchObject({ code: 'NS1003', message: expect.stringContaining('privileged') });
  });
});

describe('global constants', () => {
  it('are read in every fork and procedure, also of forks made before, and cannot be changed by a program', async () => {
    const root = runtime.interpreter();
    await root.load(func('limit(returns r)', 'return max_items'));
    const before = root.fork();
    root.defineConstant('max_items', { n: 3 });
    const source = command('set here = max_items', 'set here["n"] = 9', 'emit limit()', 'emit max_items');
    for (const fork of [before, root.fork()]) expect((await succeed(fork.execute(source))).values).toEqual([{ n: 3 }, { n: 3 }]);
    root.defineConstant('max_items', 4, { redefine: true });
    expect(await values(root, 'emit limit()')).toEqual([4]);
  });

  it('a name means one thing: global, procedure or constant, whoever was first', async () => {
    const root = runtime.interpreter();
    await root.load(func('step()', 'emit 1'));
    root.setGlobal('g', 1);
    root.defineConstant('c', 1);
    for (const [name, why] of [
      ['g', "there is a global 'g'"],
      ['self', "there is a global 'self'"],
      ['step', "there is a procedure 'step'"],
      ['c', "there is a constant 'c' already"],
      ['not a name', 'is not a variable name'],
      ['if', 'is a word of the language'],
    ] as const)
      expect(() => root.defineConstant(name, 2)).toThrow(why);
    expect(() => root.setGlobal('c', 2)).toThrow("there is a global constant 'c'");
    await expect(root.append(func('c()', 'emit 1'))).rejects.toThrow("there is a global constant 'c'");
    expect(() => root.defineConstant('d', () => 1)).toThrow('cannot be given to a script');
    expect(root.procedures).toEqual(['step']);
  });

  it('a name that no program can write is refused, by whichever way it comes', async () => {
    const root = config.interpreter();
    for (const name of ['if', 'len', 'true', 'None']) {
      const problem = `'${name}' is a word of the language, not a variable name`;
      expect(() => root.setGlobal(name, 1)).toThrow(problem);
      expect(() => config.interpreter({ symbols: { libraries: [], constants: { [name]: 1 } } })).toThrow(problem);
      await expect(config.run(command('emit 1'), { globals: { [name]: 1 } })).rejects.toThrow(problem);
      for (const call of [`tool.ns.def_global_const("${name}", 1)`, `tool.test.Set("${name}")`])
        expect((await root.execute(command(`call ${call}`))).error).toMatchObject({ code: 'NS21', message: problem });
    }
    expect(await values(root, 'emit tool.test.Set("iff")', 'emit iff')).toEqual([null, 1]);
  });

  it('def_global_const works under a policy of context config, at once and for later runs of the root', async () => {
    const root = config.interpreter();
    await root.load(func('read(returns r)', 'return answer'));
    const define = 'emit tool.ns.def_global_const("answer", [42])';
    expect(await values(root, 'emit read()', define, 'emit read()', 'emit answer[0]')).toEqual([null, true, [42], 42]);
    expect(await values(root, 'emit read()')).toEqual([[42]]);
    const again = await root.execute(command('call tool.ns.def_global_const("answer", 1)'));
    expect(again.error).toMatchObject({ code: 'NS21', message: expect.stringContaining("there is a constant 'answer' already") });
    const procedure = await root.execute(command('call tool.ns.def_global_const("read", 1)'));
    expect(procedure.error).toMatchObject({ code: 'NS21' });
    expect((await runtime.run(command('call tool.ns.def_global_const("answer", 1)'))).error).toMatchObject({ code: 'NS1003' });
    expect((await config.run(command('call tool.test.Const()'))).error).toMatchObject({ code: 'NS1003' });
  });
});

describe('symbols that the host supplies', () => {
  it('what one root was set up with, another one begins with, as JSON', async () => {
    const setup = config.interpreter();
    await setup.load(
      `${func('greet(needs who returns r)', 'return salute + who')}on event "ping" as e do\n  emit "pong"\nendon\n`,
      'base.ns',
    );
    setup.defineConstant('salute', 'Hello ');
    const kept = JSON.parse(JSON.stringify(setup.symbols()));
    const root = runtime.interpreter({ symbols: kept });
    expect(root.procedures).toEqual([]);
    expect(await values(root, 'emit greet("Ann")')).toEqual(['Hello Ann']);
    expect((await succeed(root.emitEvent('ping', 'test', null))).emits).toEqual(['pong']);
    expect(await values(root, 'emit tool.script.ListFunctions()')).toEqual([{ greet: 'procedure greet(who)' }]);
    await root.load(func('both(returns r)', 'return greet("B")'));
    expect((await succeed(root.run('both'))).result).toBe('Hello B');
  });

  it('no override: what is loaded cannot take a name of them, and nothing changes by trying', async () => {
    const symbols = { libraries: [{ name: 'base', text: func('mine()', 'emit 1') }], constants: { k: 1 } };
    const root = runtime.interpreter({ symbols });
    await root.load(func('own()', 'emit 2'));
    await expect(root.load(func('mine()', 'emit 3'))).rejects.toThrow("the host supplies a procedure 'mine'");
    await expect(root.append(func('k()', 'emit 3'))).rejects.toThrow(LibraryError);
    expect(() => root.defineConstant('k', 2, { redefine: true })).toThrow("the host supplies a constant 'k'");
    expect(root.procedures).toEqual(['own']);
    const shadowed = await root.execute(command('emit k', 'set k = 2', 'emit k'));
    expect(shadowed.values).toEqual([1, 2]);
  });

  it('of the wrong form are refused when the root is made; with a syntax error, when something is loaded', async () => {
    expect(() => runtime.interpreter({ symbols: { libraries: [] } as never })).toThrow('symbols: constants must be an object');
    expect(() => runtime.interpreter({ symbols: { libraries: [], constants: {}, more: 1 } as never })).toThrow(
      "unknown key 'more'",
    );
    const root = runtime.interpreter({ symbols: { libraries: [{ name: 'bad', text: 'func (' }], constants: {} } });
    await expect(root.load(func('a()', 'emit 1'))).rejects.toThrow(/^bad:1:/);
  });
});

describe('tool.script', () => {
  it('LoadScript adds to the root for the runs after this one, ListFunctions tells how each is called', async () => {
    const root = runtime.interpreter();
    const text =
      ':: title: Helpers\n\nfunc twice(needs n optional m returns r) means\n  return n * 2\nendfunc\non event "e" as x do\n  emit 1\nendon\n';
    root.setGlobal('text', text);
    expect(await values(root, 'emit tool.script.LoadScript(text)')).toEqual([
      { functions_loaded: 1, event_handlers_loaded: 1, metadata: { title: 'Helpers' } },
    ]);
    expect(await values(root, 'emit twice(4)', 'emit tool.script.ListFunctions()')).toEqual([
      8,
      { twice: 'procedure twice(n, [m])' },
    ]);
    const again = await root.execute(command('call tool.script.LoadScript(text)'));
    expect(again.error).toMatchObject({ code: 'NS21', message: expect.stringContaining("there is a procedure 'twice' already") });
    const bad = await root.execute(command('call tool.script.LoadScript("func (")'));
    expect(bad.error).toMatchObject({ code: 'NS21', message: expect.stringContaining(':1:') });
  });

  it('a run on the only worker can load: its parsing does not wait for its own place', async () => {
    await using small = await createRuntime({
      tools: rootTools(),
      policy: { allow: ['*'], grants: ['script:write'] },
      concurrency: 1,
      maxWorkers: 1,
    });
    const result = await small.run(command(...caught('emit tool.script.LoadScript("func a() means\\n  emit 1\\nendfunc\\n")')), {
      limits: { toolMs: 5_000 },
    });
    expect(result.values).toMatchObject([[21, expect.stringContaining('worker')]]);
  });
});

describe('text buffers', () => {
  it('hold what forks whispered outside of turns, by target, until they are taken', async () => {
    const root = runtime.interpreter();
    await succeed(root.execute(command('whisper self, "a"', 'whisper "notes", 1', 'whisper self, "b"')));
    await succeed(root.fork().runRequest({ sources: [{ name: 's', text: command('whisper self, "turn"') }], asTurn: true }));
    expect(root.buffers.names()).toEqual(['default_self_buffer', 'notes']);
    expect([root.buffers.read(), root.buffers.read('notes')]).toEqual(['a\nb\n', '1\n']);
    expect([root.buffers.take(), root.buffers.take(), root.buffers.read('notes')]).toEqual(['a\nb\n', '', '1\n']);
    expect(runtime.interpreter().buffers.names()).toEqual([]);
  });

  it('are bounded: the oldest lines go, and are counted', async () => {
    const { buffers } = runtime.interpreter();
    for (let line = 0; line < 1100; line++) buffers.append(line % 2 === 0 ? 'even' : 'odd', String(line).padEnd(1023));
    expect(buffers.dropped).toBe(1100 - 1024);
    expect(buffers.read('even').length + buffers.read('odd').length).toBeLessThanOrEqual(2 ** 20);
    expect(buffers.read('odd').startsWith('77 ')).toBe(true);
  });
});
