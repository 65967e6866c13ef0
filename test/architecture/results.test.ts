import { describe, expect, it } from 'vitest';
import { productFiles } from './imports.ts';
import { ESCAPED, isNode, type SourceText, walk } from './source.ts';

/** Every shape that holds a program with its events, and the boundary that needs the shape. */
const REQUESTS: Readonly<Record<string, string>> = {
  'src/runtime/runtime.ts RunOptions': 'applications: JavaScript values, and a root interpreter of its own',
  'src/runtime/line.ts RequestLine': 'the command line: one line of JSON, checked',
  'src/runtime/request.ts RunRequest':
    'the runtime and executors of the loop: every way to run comes to this; values are tagged JSON',
  'src/wire/protocol.ts RunInput': 'the worker process: a frame, which is recorded and executed again',
};

/** Every shape that says how a run ended, and the boundary that needs the shape. */
const RESULTS: Readonly<Record<string, string>> = {
  'src/wire/protocol.ts GuestResult': 'the isolate: its own account, which the worker and the host check',
  'src/worker/run.ts Ended': 'the worker: that account with the usage that the worker has measured',
  'src/wire/protocol.ts WorkerFrame': 'the pipe: the same as a frame',
  'src/sandbox/result.ts SandboxResult': 'the sandbox: the end of every run, also without a worker that could report it',
  'src/browser/engine.ts PageResult': 'pages: what the interpreter says, with nothing that only a host can know',
  'src/wire/result.ts RunFacts': 'the runtime: with output and journal, for applications, the loop and the command line',
  'src/loop/turn/execution.ts Execution': 'the loop: a run as OUTPUT and SCRATCHPAD of a turn',
  'src/loop/record/record.ts UnsealedRecord': 'stores: a decided turn',
  'src/loop/v1/record.ts V1Execution': 'Ask-Loop v1: the runs of a turn, one for each of its parts',
  'src/cli/cases/read.ts Expected': 'test files: how the run of a case must end',
};

interface Shape {
  readonly name: string;
  readonly members: ReadonlySet<string>;
}

/** The interfaces and type aliases of a file with all property names in them. */
function shapesOf({ path, program }: SourceText): Shape[] {
  const found: Shape[] = [];
  walk(program, (node) => {
    if (node.type !== 'TSInterfaceDeclaration' && node.type !== 'TSTypeAliasDeclaration') return undefined;
    const members = new Set<string>();
    walk(node, ({ type, key }) => {
      if (type === 'TSPropertySignature' && isNode(key) && typeof key.name === 'string') members.add(key.name);
      return undefined;
    });
    if (isNode(node.id)) found.push({ name: `${path} ${node.id.name}`, members });
    return false;
  });
  return found;
}

const shapes = productFiles()
  // Every shape that is looked for has one of these members.
  .filter(({ path, text }) => path.startsWith('src/') && (/events|eventErrors|usage/.test(text) || ESCAPED.test(text)))
  .flatMap(shapesOf);

const namesOf = (wanted: (members: ReadonlySet<string>) => boolean): string[] =>
  shapes
    .filter(({ members }) => wanted(members))
    .map(({ name }) => name)
    .sort();

describe('the shapes of a run', () => {
  it('each shape of its request serves a boundary of its own', () => {
    const source = ['source', 'sources', 'src', 'lib'];
    const requests = namesOf((members) => members.has('events') && source.some((key) => members.has(key)));
    expect(requests).toEqual(Object.keys(REQUESTS).sort());
  });

  it('each shape of its result serves a boundary of its own', () => {
    const results = namesOf(
      (members) => members.has('eventErrors') || (members.has('usage') && (members.has('result') || members.has('error'))),
    );
    expect(results).toEqual(Object.keys(RESULTS).sort());
  });
});
