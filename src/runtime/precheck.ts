import type { PolicyGuard, ToolView } from '../tools/index.ts';
import { NS_CODES } from '../wire/codes.ts';
import { languageError } from '../wire/errorinfo.ts';
import { type ErrorInfo, NeuroScriptError } from '../wire/errors.ts';
import type { Source } from '../wire/protocol.ts';
import type { SandboxPort } from './port.ts';

/** What a fork knows of its policy. */
export interface PolicyScope {
  readonly sandbox: Pick<SandboxPort, 'parse' | 'check'>;
  readonly view: ToolView;
  readonly guards: readonly PolicyGuard[];
}

/** Why the policies of a fork would deny a call, or null; limits of calls are not looked at, and an unknown tool is not denied. */
export function deniedTool(view: ToolView, guards: readonly PolicyGuard[], name: string): string | null {
  const tool = view.lookup(name);
  if (tool === undefined) return null;
  for (const guard of guards) {
    const reason = guard.denial(tool, view.isOwn(name))?.reason ?? null;
    if (reason !== null) return reason;
  }
  return null;
}

/**
 * The first call in these sources that the policy would deny, as the error that it would be: every call that stands
 * there counts, whether the program comes to it or not. Null when there is none, and when there are syntax errors, which
 * are for the run to tell.
 */
export async function deniedCall(scope: PolicyScope, sources: readonly Source[], sourceBytes: number): Promise<ErrorInfo | null> {
  const files = await filesOf(scope, sources, sourceBytes);
  const called = [...new Set(files.flatMap(({ tools }) => tools))];
  const denied = called.flatMap((name) => {
    const reason = deniedTool(scope.view, scope.guards, name);
    return reason === null ? [] : [{ name, reason }];
  });
  if (denied.length === 0) return null;
  // The checker knows where the calls stand; of what else it finds nothing is said here.
  const { findings } = await scope.sandbox.check(sources, sourceBytes, { globals: [], tools: [], complete: false, denied });
  const found = findings.find(({ code }) => code === 'LINT_DENIED_TOOL');
  const first = denied.find(({ reason }) => found?.message.includes(reason)) ?? denied[0];
  const at = found === undefined ? undefined : { source: found.file, line: found.line, column: found.column };
  return languageError(NS_CODES.Policy, first?.reason ?? '', at);
}

/** None for a source that brings the parser down: the run comes to the same end, and says which. */
async function filesOf({ sandbox }: PolicyScope, sources: readonly Source[], sourceBytes: number) {
  try {
    return (await sandbox.parse(sources, sourceBytes)).files;
  } catch (error) {
    if (error instanceof NeuroScriptError && ['ERR_TIMEOUT', 'ERR_WORKER'].includes(error.code)) return [];
    throw error;
  }
}
