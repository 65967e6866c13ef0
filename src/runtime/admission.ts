import type { SandboxResult } from '../sandbox/index.ts';
import type { ForkTools, PolicyGuard } from '../tools/index.ts';
import { environmentOf, type Rejection, rejectedFor, rejectionIn } from '../wire/admission.ts';
import type { RunInput } from '../wire/protocol.ts';
import { type RunFailure, refusedResult } from '../wire/result.ts';
import type { Admission } from '../wire/sourcereports.ts';
import { denialOf } from './check.ts';
import type { SandboxPort } from './context.ts';
import { mayCall } from './input.ts';
import type { RunRequest } from './request.ts';

/** Judges the sources of a run that is checked first. The worker learns only the names of denied tools, and this knows the reasons. */
export class Judge {
  /** What the worker looks for. */
  readonly admission: Admission;
  readonly #reasonOf: (tool: string) => string | undefined;

  /** A recorded run that names its denials is judged by these, and any other by the policies. */
  constructor(
    { asTurn: oneBlock = false, recorded }: RunRequest,
    { sources }: RunInput,
    tools: ForkTools,
    guards: readonly PolicyGuard[],
  ) {
    const known = recorded?.denied;
    this.#reasonOf = (name) => (known === undefined ? denialOf(tools, guards, name)?.reason : known.get(name));
    // The names of a hundred tools take as long to send as a small program to run, and most programs call no tool.
    const denied = sources.some(mayCall) ? (known === undefined ? tools.deniedNames(guards) : [...known.keys()]) : [];
    this.admission = { oneBlock, denied };
  }

  /** The result of a run with the reasons of the policies. */
  explained(ended: SandboxResult): SandboxResult {
    if (ended.findings === undefined) return ended;
    const { error, findings } = this.#withReasons(ended.findings);
    return { ...ended, result: { ...ended.result, error }, findings };
  }

  /** The result of a run that would be rejected, found without running it; null for a run that would begin. */
  async rejected(sandbox: SandboxPort, { sources, limits }: RunInput): Promise<RunFailure | null> {
    const report = await sandbox.check(sources, limits.sourceBytes, environmentOf(this.admission));
    const rejection = rejectionIn(report, this.admission);
    if (rejection === null) return null;
    const { findings } = rejection;
    const explained = findings === undefined ? rejection : this.#withReasons(findings);
    return { ...refusedResult(explained.error), ...explained };
  }

  #withReasons(findings: NonNullable<Rejection['findings']>): Rejection {
    return rejectedFor(findings.map((found) => ({ ...found, message: this.#reasonOf(found.tool ?? '') ?? found.message })));
  }
}
