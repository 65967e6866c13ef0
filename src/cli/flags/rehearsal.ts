import { runtimeExecutor, type StepOptions } from '../../loop/index.ts';
import { createRuntime } from '../../runtime/index.ts';
import type { RuntimeLimitOptions } from '../../sandbox/index.ts';
import { ToolError, withWork } from '../../tools/index.ts';
import { NS_CODES } from '../../wire/codes.ts';
import { UsageError } from '../terminal/failure.ts';
import { readGrant } from './bound.ts';
import { type LibraryFlags, loadLibrary } from './library.ts';
import { isModule } from './module.ts';
import { readTools, type Setup } from './setup.ts';

/** What the programs of a session find and are held to beside tools, policy and limits. */
export interface HeldFlags extends LibraryFlags {
  /** The file of a grant. */
  readonly bound?: string | undefined;
  /** A tools file of mocks. */
  readonly rehearse?: string | undefined;
}

/**
 * The options of a step that these flags give. Programs are rehearsed on a runtime of their own, which closes with `resources`: mocks take the
 * place of tools of their names, tools without effects are as they are, and every other tool fails. Throws {@link UsageError}.
 */
export async function heldBy(
  { bound, rehearse, library }: HeldFlags,
  { tools, ...setup }: Setup,
  limits: RuntimeLimitOptions,
  resources: AsyncDisposableStack,
): Promise<Pick<StepOptions, 'bound' | 'rehearse'>> {
  const grant = bound === undefined ? undefined : await readGrant('bound', bound);
  if (rehearse === undefined) return { bound: grant };
  if (isModule(rehearse))
    throw new UsageError('a rehearsal needs mocks or a recording, in YAML or JSON; a module may do anything');
  const mocks = await readTools(rehearse);
  const mocked = new Set(mocks.map(({ canonicalName }) => canonicalName));
  const others = tools.filter(({ canonicalName }) => !mocked.has(canonicalName));
  const unanswered = others.map((tool) =>
    tool.effects === 'none' ? tool : withWork(tool, { run: nothing(tool.name), complete: null }),
  );
  const runtime = resources.use(await createRuntime({ ...setup, tools: [...mocks, ...unanswered], limits, concurrency: 1 }));
  const root = runtime.interpreter();
  await loadLibrary(root, library);
  return { bound: grant, rehearse: runtimeExecutor(runtime, root) };
}

function nothing(name: string): () => never {
  return () => {
    throw new ToolError(NS_CODES.ToolExecutionFailed, `the mocks of the rehearsal have no ${name}`);
  };
}
