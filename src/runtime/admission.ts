import type { SandboxResult } from '../sandbox/index.ts';
import { callDepth, type ForkTools, MAGIC_TOOL, type PolicyGuard, toolParts } from '../tools/index.ts';
import { environmentOf, type Rejection, rejectedFor, rejectionIn } from '../wire/admission.ts';
import { workerError } from '../wire/errorinfo.ts';
import { type ErrorInfo, NeuroScriptError } from '../wire/errors.ts';
import type { RunInput } from '../wire/protocol.ts';
import { type RunFailure, refusedResult } from '../wire/result.ts';
import type {
  Admission,
  BrokenCall,
  CheckEnvironment,
  JudgedNames,
  LintFinding,
  StrictAdmission,
  ToolShape,
} from '../wire/sourcereports.ts';
import { RunError } from '../wire/text/runerror.ts';
import { denialOf, shapeOf, toolShapes } from './check.ts';
import type { SandboxPort } from './context.ts';
import { brokenFinding, USERDATA } from './foresee.ts';
import { mayCall } from './input.ts';
import type { RunRequest } from './request.ts';

/** The names of tools that stand in the text of a program, in lower case. */
function toolNamesIn(text: string): ReadonlySet<string> {
  const names = new Set<string>();
  const lower = text.toLowerCase();
  for (let at = lower.indexOf('tool.'); at >= 0; at = lower.indexOf('tool.', at + 1)) {
    let end = at;
    while (NAME_CHARACTER.test(lower.charAt(end))) end++;
    names.add(lower.slice(at, end));
  }
  return names;
}

const NAME_CHARACTER = /[\w.]/;

/** The rules whose findings reject a program that is checked strictly: a place that has one fails whenever it is reached. */
const STRICT: ReadonlySet<string> = new Set([
  'LINT_UNKNOWN_PROCEDURE',
  'LINT_UNKNOWN_TOOL',
  'LINT_DENIED_TOOL',
  'LINT_ARGUMENT_COUNT',
  'LINT_OPERAND',
]);

/** The rules whose findings do, too, where the correction is evident: the place does not fail, and does nothing that anybody means. */
const EVIDENT: ReadonlySet<string> = new Set(['LINT_LOGIC_VALUE', 'LINT_MAP_KEY', 'LINT_UNSEEN_RESULT']);

const UNREAD: ReadonlySet<string> = new Set(['LINT_UNUSED_VARIABLE', 'LINT_UNUSED_PARAMETER']);

/** The variables that are never set and nearly have the name of one that is never read: that one is meant. */
export function misspeltIn(findings: readonly LintFinding[]): readonly LintFinding[] {
  const unread = new Set(findings.flatMap(({ code, message }) => (UNREAD.has(code) ? message.split('`').slice(1, 2) : [])));
  return findings.filter(({ code, fix: { edits } }) => code === 'LINT_NEVER_SET' && edits.some(({ text }) => unread.has(text)));
}

/** The findings that reject a program which is checked strictly. */
export function strictlyIn(findings: readonly LintFinding[]): readonly LintFinding[] {
  const found = findings.filter(({ code, fix }) => STRICT.has(code) || (EVIDENT.has(code) && fix.edits.length > 0));
  return [...found, ...misspeltIn(findings)];
}

/** Judges the sources of a run that is checked first. The worker learns only the names of denied tools, and this knows the reasons. */
export class Judge {
  /** What the worker looks for. */
  readonly admission: Admission;
  readonly #tools: ForkTools;
  readonly #input: RunInput;
  readonly #reasonOf: (tool: string) => string | undefined;
  readonly #shapes: readonly ToolShape[] | null;
  readonly #broken: readonly BrokenCall[];

  /**
   * A recorded run that names its denials is judged by these, and any other by the policies. `broken` are the calls of the program that
   * rules refuse, for a strict look.
   */
  constructor(
    { asTurn: oneBlock = false, recorded, strict = false }: RunRequest,
    input: RunInput,
    tools: ForkTools,
    guards: readonly PolicyGuard[],
    broken: readonly BrokenCall[],
  ) {
    const { sources } = input;
    const known = recorded?.denied;
    this.#tools = tools;
    this.#input = input;
    this.#shapes = recorded?.tools ?? null;
    this.#broken = broken.filter(({ file }) => file === sources.at(-1)?.name);
    this.#reasonOf = (name) => (known === undefined ? denialOf(tools, guards, name)?.reason : known.get(name));
    // The names of a hundred tools take as long to send as a small program to run, and most programs call no tool.
    const denied = sources.some(mayCall) ? (known === undefined ? tools.deniedNames(guards) : [...known.keys()]) : [];
    this.admission = { oneBlock, denied, strict: strict ? this.#namedTools() : undefined };
  }

  /** Whether the program has calls that rules refuse, so that it need not begin. */
  get isBroken(): boolean {
    return this.admission.strict !== undefined && this.#broken.length > 0;
  }

  /** The same without a strict look. */
  get lenient(): Admission {
    return { ...this.admission, strict: undefined };
  }

  /**
   * The result of a run with the reasons for which it was rejected. Null when a strict look at the program finds no reason, because a name
   * is written in an unusual way: then the program has to run without such a look.
   */
  async explained(sandbox: SandboxPort, ended: SandboxResult): Promise<SandboxResult | null> {
    const { findings } = ended;
    if (findings === undefined) return ended;
    const { strict } = this.admission;
    const rejection = strict === undefined ? this.#withReasons(findings) : await this.#strictly(sandbox);
    return rejection === null
      ? null
      : {
          ...ended,
          result: { ...ended.result, error: rejection.error },
          findings: rejection.findings,
          names: this.#names(rejection.findings ?? []),
        };
  }

  /** The result of a run that would be rejected, found without running it; null for a run that would begin. */
  async rejected(sandbox: SandboxPort): Promise<RunFailure | null> {
    const { sources, limits } = this.#input;
    const report = await checked(() => sandbox.check(sources, limits.sourceBytes, environmentOf(this.admission), callDepth()));
    if ('error' in report) return refusedResult(report.error);
    const plain = rejectionIn(report, this.admission);
    const isStrict = this.admission.strict !== undefined && plain?.errors === undefined;
    const rejection = isStrict ? await this.#strictly(sandbox) : plain;
    if (rejection === null) return null;
    const { findings } = rejection;
    const explained = isStrict || findings === undefined ? rejection : this.#withReasons(findings);
    const names = findings === undefined ? undefined : this.#names(findings);
    const error = new RunError(explained.error, sources, explained.errors);
    return { ...refusedResult(error), ...explained, error, names };
  }

  /**
   * What the findings depend on. A hint names the tool that is nearest to another one, or what stands in the group of an unknown tool, or the
   * groups: so it stays the same among fewer tools.
   */
  #names(findings: readonly LintFinding[]): JudgedNames {
    const { sources } = this.#input;
    const text = sources.at(-1)?.text ?? '';
    const program = toolNamesIn(text);
    const hints = toolNamesIn(findings.map(({ fix }) => fix.message).join('\n'));
    const { tools = [], denied = [], ...known } = this.#environment();
    const offered = new Set(tools.map(({ name }) => name));
    const unknown = new Set([...program].flatMap((name) => (offered.has(name) ? [] : [toolParts(name)[0]])));
    const firsts = new Map(tools.map(({ name }) => [toolParts(name)[0], name] as const).toReversed());
    const isListed = (name: string, [group] = toolParts(name)): boolean =>
      unknown.has(group) || (unknown.size > 0 && firsts.get(group) === name);
    const globals = [...(known.globals ?? []), ...(known.constants ?? [])].filter(
      (name) => name !== USERDATA && text.includes(name),
    );
    return {
      definitions: sources.slice(0, -1),
      tools: tools.filter(({ name }) => program.has(name) || hints.has(name) || isListed(name)),
      denied: denied
        .filter(({ name }) => program.has(name))
        .map(({ name, reason }) => ({ name, reason: this.#reasonOf(name) ?? reason })),
      ...(globals.length === 0 ? {} : { globals }),
      ...(this.isBroken ? { broken: this.#broken } : {}),
    };
  }

  /** The tools whose names stand in the program. */
  #namedTools(): StrictAdmission {
    const text = this.#input.sources.at(-1)?.text ?? '';
    return { tools: [...toolNamesIn(text)].flatMap((name) => this.#tools.lookup(name) ?? []).map(shapeOf) };
  }

  /** All reasons for a strict rejection, with their places; null when there is none, or no worker could look. */
  async #strictly(sandbox: SandboxPort): Promise<Rejection | null> {
    const { sources, limits } = this.#input;
    const program = sources.at(-1);
    const report = await checked(() => sandbox.check(sources, limits.sourceBytes, this.#environment(), callDepth()));
    if ('error' in report) return null;
    const { files, findings } = report;
    const own = findings.filter(({ file }) => file === program?.name);
    const found = [...strictlyIn(own), ...this.#broken.map(brokenFinding)];
    if (found.length > 0) return this.#withReasons(found.toSorted((a, b) => a.line - b.line || a.column - b.column));
    return files.some(({ tools }) => tools.includes(MAGIC_TOOL)) ? null : NO_TOKEN;
  }

  #environment(): CheckEnvironment {
    const { denied } = environmentOf(this.admission);
    const called = new Set(this.admission.strict?.tools.map(({ name }) => name));
    const tools = this.#shapes ?? toolShapes(this.#tools, called);
    const { globals, constants = {} } = this.#input;
    const names = { globals: Object.keys(globals), constants: Object.keys(constants) };
    return { ...names, tools: [...tools], complete: true, denied: denied ?? [] };
  }

  #withReasons(findings: readonly LintFinding[]): Rejection {
    const reason = (found: LintFinding): string => this.#reasonOf(found.tool ?? '') ?? found.message;
    return rejectedFor(
      findings.map((found) => (found.code === 'LINT_DENIED_TOOL' ? { ...found, message: reason(found) } : found)),
    );
  }
}

/** Most arguments of a call of which no tool is known. */
const MOST_ARGUMENTS = 255;

/**
 * What may have caused the error with which the program of an input failed: the same for the same input and error. Empty where nothing beyond the
 * error is known, or no worker could look.
 */
export async function causesIn(
  sandbox: SandboxPort,
  { sources, limits, globals, constants = {}, pure = [] }: RunInput,
  { code, nsCode, message, source, line, column, hint }: ErrorInfo,
): Promise<readonly LintFinding[]> {
  if (nsCode === null || line === null || column === null || source !== sources.at(-1)?.name) return [];
  const environment: CheckEnvironment = {
    globals: Object.keys(globals),
    constants: Object.keys(constants),
    tools: pure.map((name) => ({ name, least: 0, most: MOST_ARGUMENTS, pure: true })),
    failed: { code, line, column, message, hint },
  };
  try {
    const report = await checked(() => sandbox.check(sources, limits.sourceBytes, environment, callDepth()));
    return 'error' in report ? [] : report.findings;
  } catch (error) {
    // The run has ended, whatever becomes of its explanation.
    if (error instanceof NeuroScriptError) return [];
    throw error;
  }
}

/**
 * The report of a worker about sources, or why no worker could make it. A worker that ends is replaced once, because another process may have
 * killed it.
 */
export async function checked<Report extends object>(
  check: () => Promise<Report>,
): Promise<Report | { readonly error: ErrorInfo }> {
  const failed = (error: unknown): { readonly error: ErrorInfo } => {
    if (!(error instanceof NeuroScriptError)) throw error;
    if (error.code === 'ERR_WORKER') return { error: workerError(error.message) };
    if (error.code === 'ERR_TIMEOUT') return { error: { ...workerError(error.message), ...TIMEOUT } };
    throw error;
  };
  const first = await check().catch(failed);
  return 'error' in first && first.error.code === 'ERR_WORKER' ? check().catch(failed) : first;
}

const TIMEOUT = { kind: 'timeout', code: 'ERR_TIMEOUT', name: 'Timeout' } as const;

/** The rejection of a program that cannot emit a control token: nothing in it asks for one. */
const NO_TOKEN: Rejection = {
  phase: 'request',
  error: {
    ...{
      kind: 'usage',
      code: 'ERR_TOKEN_MISSING',
      nsCode: null,
      name: 'TokenMissing',
      source: null,
      line: null,
      column: null,
      stack: [],
    },
    message: `no statement of the program calls ${MAGIC_TOOL}, so it cannot say how the session goes on`,
    hint: `end with: emit ${MAGIC_TOOL}("LOOP", {"action": "continue"}), or "done" when the work is finished`,
  },
  findings: [],
};
