import { expect, it } from 'vitest';
import { LIMITS, POOL_LIMITS } from '../../src/wire/limits.ts';
import { productFiles } from './imports.ts';
import { children, ESCAPED, isNode, literalText, type SourceText, type SyntaxNode } from './source.ts';

/** The table, from which types, fields of requests, flags, schemas, pages and reports are derived. */
const TABLE = 'src/wire/limits.ts';

/** Every other file that names limits, which ones, and why it must. A new limit adds its key where it is enforced. */
const NAMED: Readonly<Record<string, readonly [keys: string, reason: string]>> = {
  'src/ai/programtool.ts': ['outputBytes', 'keeps the output of a program within the context of a model'],
  'src/browser/engine.ts': [
    'cpuMs sourceBytes wallMs',
    'has no worker that would measure the time, and no host that would refuse a source',
  ],
  'src/cli/commands/check.ts': ['sourceBytes', 'refuses a program file that no runtime takes'],
  'src/cli/commands/foresee.ts': ['sourceBytes', 'refuses a program file that no runtime takes'],
  'src/cli/commands/fmt.ts': ['sourceBytes', 'refuses a program file that no runtime takes'],
  'src/cli/commands/repl.ts': ['sourceBytes', 'refuses a program file that its runtime does not take'],
  'src/cli/commands/replay.ts': ['cpuMs memoryBytes wallMs', 'allows what the sessions of a store were recorded with'],
  'src/cli/commands/run.ts': ['sourceBytes', 'refuses a program file that its runtime does not take'],
  'src/cli/flags/options.ts': ['concurrency', 'a session computes one turn at a time and has no such flag'],
  'src/cli/repl/commands.ts': [
    'cpuMs fuel memoryBytes outputBytes sourceBytes toolCalls wallMs',
    'shows what a session used beside its limits',
  ],
  'src/cli/repl/conversation.ts': ['sourceBytes', 'refuses an input that is too long'],
  'src/guest/hostcalls.ts': [
    'memoryBytes togetherCalls toolBytes toolCalls toolCallsPerTool',
    'refuses a call of the host; tells an ask what is left',
  ],
  'src/guest/invoke.ts': ['callDepth evalDepth', 'refuses a call that is too deep'],
  'src/guest/finalvariables.ts': ['toolBytes', 'leaves out variables that do not fit into a result'],
  'src/guest/machine.ts': [
    'callDepth cpuMs evalDepth fuel lineBytes listLength mapLength memoryBytes outputBytes scratchBytes textLength valueBytes wallMs',
    'holds the counters, and refuses fuel, memory and sizes',
  ],
  'src/guest/measure.ts': ['valueDepth', 'refuses a value that is too deep'],
  'src/guest/output.ts': ['emits lineBytes outputBytes scratchBytes', 'refuses output'],
  'src/guest/probe.ts': ['traceEvents', 'sums up what a trace has no room for'],
  'src/guest/program.ts': ['deliveries evalDepth eventCount', 'refuses events and the running of handlers'],
  'src/loop/ask/budget.ts': ['cpuMs fuel memoryBytes toolCalls wallMs', 'gives a nested loop what its caller has left'],
  'src/loop/ask/options.ts': ['cpuMs fuel memoryBytes toolCalls wallMs', 'reads the amounts that the program gives an ask'],
  'src/loop/ceilings.ts': ['fuel', 'bounds the fuel of a whole session'],
  'src/loop/replay/compare.ts': ['cpuMs fuel outputBytes toolCalls toolMs wallMs', 'a replayed run has times of its own'],
  'src/loop/replay/turn.ts': [
    'cpuMs deliveries emits journalBytes lineBytes memoryBytes outputBytes scratchBytes togetherCalls toolBytes toolCalls toolCallsPerTool toolMs wallMs',
    'a replayed run is stopped by its record, within the limits of the host',
  ],
  'src/loop/suspend/complete.ts': ['togetherCalls', 'tells a call that waited from one that never was'],
  'src/loop/record/limits.ts': ['eventCount', 'rows after this one may be absent in a record of an older version'],
  'src/runtime/continued.ts': ['wallMs', 'a resumed run gets its time anew'],
  'src/loop/turn/executor.ts': ['toolBytes', 'refuses the late answer of a tool'],
  'src/loop/v1/ceilings.ts': ['wallMs', 'bounds the time of a whole loop'],
  'src/loop/v1/loop.ts': ['fuel', 'bounds the fuel of a whole loop'],
  'src/loop/v1/result.ts': ['wallMs', 'names the exceeded ceiling of a loop'],
  'src/loop/v1/turn.ts': ['cpuMs fuel toolCalls wallMs', 'gives a turn what its loop has left'],
  'src/report/foresee.ts': ['fuel', 'shows the bounds of a preview'],
  'src/report/session.ts': ['fuel', 'shows the ceiling of a session'],
  'src/runtime/ask.ts': [
    'cpuMs fuel memoryBytes sourceBytes toolCalls wallMs',
    'bounds what an ask may use by what its run has left',
  ],
  'src/runtime/create.ts': [
    'concurrency maxWorkers memoryBytes queueLength',
    'takes the limits of the pool as options; prepares isolates',
  ],
  'src/runtime/interpreter.ts': ['sourceBytes', 'refuses a library that is too long'],
  'src/runtime/end.ts': ['fuel wallMs', 'says how a run ended'],
  'src/runtime/fork.ts': ['sourceBytes', 'checks sources before a run'],
  'src/runtime/runtime.ts': ['sourceBytes', 'passes the limit to the parser'],
  'src/loop/host/host.ts': ['concurrency', 'bounds the sessions that a host drives at a time; its runtime bounds the workers'],
  'src/runtime/tenants.ts': [
    'concurrency cpuMs fuel queueLength toolCalls',
    'counts the budgets of tenants, whose options have the names of the limits of a run',
  ],
  'src/runtime/foresee.ts': [
    'fuel memoryBytes outputBytes scratchBytes toolCalls toolCallsPerTool',
    'shows what the run takes at most, within its limits',
  ],
  'src/sandbox/affinity.ts': ['memoryBytes', 'a prepared isolate suits runs with its heap limit'],
  'src/sandbox/clock.ts': ['wallMs', 'ends a run by its elapsed time'],
  'src/sandbox/execution.ts': [
    'fuel memoryBytes toolMs',
    'ends a call by its elapsed time; says why a worker died; checks its heat',
  ],
  'src/sandbox/ledger.ts': [
    'deliveries emits fuel lineBytes memoryBytes outputBytes scratchBytes togetherCalls toolBytes toolCalls toolCallsPerTool',
    'counts output and calls again on the host; bounds what a worker claims',
  ],
  'src/sandbox/measuring.ts': ['traceEvents', 'refuses what an interpreter would have summed up'],
  'src/sandbox/limits.ts': ['concurrency maxWorkers queueLength', 'completes the limits of the pool'],
  'src/sandbox/pool.ts': ['concurrency maxWorkers queueLength', 'lets jobs wait or refuses them; prepares isolates'],
  'src/sandbox/result.ts': ['memoryBytes', 'says why a worker died'],
  'src/sandbox/rings.ts': ['cpuMs fuel', 'breaches two limits to examine the rings'],
  'src/sandbox/watchdog.ts': ['cpuMs memoryBytes', 'ends a worker by what the system counts'],
  'src/testing/simulation/interpreter.ts': [
    'sourceBytes wallMs',
    'has no worker that would end a run, and no host that would refuse a source',
  ],
  'src/testing/sandbox.ts': ['toolMs', 'ends a call by its elapsed time where there is no worker'],
  'src/tools/dispatch/invoke.ts': ['toolBytes', 'refuses arguments and results of a tool'],
  'src/tools/dispatch/outcome.ts': ['toolBytes', 'refuses arguments and results of a tool'],
  'src/tools/dispatch/quotas.ts': ['journalBytes toolCalls toolCallsPerTool', 'counts again on the host'],
  'src/tools/dispatch/toolcall.ts': ['toolBytes', 'refuses arguments and results of a tool'],
  'src/tools/dispatch/toolruntime.ts': ['toolBytes', 'refuses arguments and results of a tool'],
  'src/wire/frames.ts': ['lineBytes scratchBytes toolBytes', 'derives the size of a frame'],
  'src/ui/turn.ts': ['cpuMs fuel memoryBytes outputBytes toolCalls wallMs', 'shows what a turn used of each'],
  'src/wire/heat.ts': ['traceEvents', 'derives the memory that measuring takes'],
  'src/worker/bridge.ts': ['outputBytes toolBytes', 'refuses a frame that is too large'],
  'src/worker/run.ts': ['cpuMs fuel memoryBytes wallMs', 'answers the clock checks of the guest; says why an isolate died'],
  'src/worker/server.ts': ['memoryBytes sourceBytes toolBytes', 'refuses sources and results; sets the heap limit'],
  'src/worker/warmup.ts': ['memoryBytes', 'prepares an isolate for the limit of the first run'],
  'bench/breaches.ts': [
    'callDepth cpuMs deliveries emits evalDepth eventCount fuel journalBytes lineBytes listLength mapLength memoryBytes outputBytes scratchBytes sourceBytes textLength togetherCalls toolBytes toolCalls toolCallsPerTool toolMs valueBytes valueDepth wallMs',
    'breaches every limit',
  ],
  'bench/capacity.ts': ['cpuMs wallMs', 'sets limits that its measurement does not reach'],
  'bench/contexts.ts': ['cpuMs fuel journalBytes toolCalls wallMs', 'sets limits that its measurement does not reach'],
  'bench/growth.ts': ['cpuMs fuel memoryBytes wallMs', 'sets limits that its measurement does not reach'],
  'bench/memory.ts': ['toolMs wallMs', 'sets limits that its measurement does not reach'],
  'bench/peertable.ts': ['cpuMs fuel wallMs', 'sets limits that its measurement does not reach'],
  'bench/prices.ts': [
    'cpuMs emits fuel memoryBytes outputBytes scratchBytes wallMs',
    'sets limits that its measurement does not reach',
  ],
  'bench/quotas.ts': ['cpuMs wallMs', 'sets limits that its measurement does not reach'],
  'bench/soak.ts': ['cpuMs memoryBytes outputBytes wallMs', 'sets limits that its measurement does not reach'],
  'bench/wedge.ts': ['cpuMs memoryBytes wallMs', 'sets limits that its measurement does not reach'],
};

const RUN_KEYS = new Set<unknown>(LIMITS.map(({ key }) => key));
const POOL_KEYS = new Set<unknown>(POOL_LIMITS.map(({ key }) => key));
/** A file without it names no limit, and needs no parsing. */
const KEY = new RegExp(`\\b(?:${[...RUN_KEYS, ...POOL_KEYS].join('|')})\\b`);

/**
 * The keys that a file names: it writes one as a text, or uses one of an object that is called limits; limits of the pool also
 * travel among options. A measurement of the same name, as in `usage.fuel`, and the parameter of a function are none.
 */
function keysOf({ program }: SourceText): string[] {
  const found = new Set<string>();
  const add = (holder: string | null, key: string | null): void => {
    if (holder === null || key === null) return;
    if (POOL_KEYS.has(key) || (RUN_KEYS.has(key) && !/options$/i.test(holder))) found.add(key);
  };
  const visit = (node: SyntaxNode, holder: string | null): void => {
    add('text', literalText(node));
    if (node.type === 'MemberExpression') add(holderOf(node.object), nameOf(node.property));
    if (node.type === 'Property') add(holder, nameOf(node.key));
    const isObject = node.type === 'ObjectExpression' || node.type === 'ObjectPattern';
    for (const child of children(node)) visit(child, isObject ? holder : valueHolder(node, child));
  };
  visit(program, null);
  return [...found].sort();
}

/** The name of the limits or options that `child` is, as in `limits: child`, `limits = child` and `child = limits`. */
function valueHolder(node: SyntaxNode, child: SyntaxNode): string | null {
  const [name, value] = node.type === 'Property' ? [node.key, node.value] : [node.id, node.init];
  return child === value ? holderOf(name) : child === name ? holderOf(value) : null;
}

function holderOf(node: unknown): string | null {
  if (isNode(node) && node.type === 'MemberExpression') return holderOf(node.property);
  const name = nameOf(node);
  return name !== null && /(limits|options)$/i.test(name) ? name : null;
}

function nameOf(node: unknown): string | null {
  return isNode(node) && typeof node.name === 'string' ? node.name : null;
}

it('a limit is named in its row and where it is enforced, nowhere else', () => {
  const found = productFiles()
    .filter(({ path, text }) => path !== TABLE && (KEY.test(text) || ESCAPED.test(text)))
    .flatMap((file) => keysOf(file).map((key) => `${file.path} names ${key}`));
  const listed = Object.entries(NAMED).flatMap(([path, [keys]]) => keys.split(' ').map((key) => `${path} names ${key}`));
  expect(found.filter((each) => !listed.includes(each))).toEqual([]);
  expect(listed.filter((each) => !found.includes(each))).toEqual([]);
});

it('every limit is enforced somewhere', () => {
  const enforced = Object.values(NAMED).flatMap(([keys]) => keys.split(' '));
  expect([...RUN_KEYS, ...POOL_KEYS].filter((key) => !enforced.some((known) => known === key))).toEqual([]);
});
