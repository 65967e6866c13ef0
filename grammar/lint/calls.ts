/** Calls: whether their target exists, is allowed, and takes that number of arguments. */

import { foreignFunction, foreignTool } from '../advice/functions.ts';
import type { Procedure } from '../syntax/ast.ts';
import type { CallExpr, Expr, ToolCallExpr } from '../syntax/astexpressions.ts';
import { acceptsCount } from '../syntax/certainty.ts';
import { eachExpression } from '../syntax/walk.ts';
import { BUILTIN_ARITY, BUILTINS, builtinNamed } from '../vocabulary/builtins.ts';
import { type Comparisons, groupAdvice, named, nearestTool, Suggestions, toolParts } from '../vocabulary/names.ts';
import { nearestName } from '../vocabulary/spelling.ts';
import { type CheckedFile, type Environment, lint, type RawEdit, type Report, type ToolShape } from './finding.ts';
import { eachRoot, proceduresOf } from './scopes.ts';

export function checkCalls(
  files: readonly CheckedFile[],
  environment: Environment,
  comparisons: Comparisons,
  report: Report,
): void {
  const checker = new CallChecker(files, environment, comparisons, report);
  eachRoot(files, (file, root) => eachExpression(root, (expr) => checker.expression(file, expr)));
  checkDuplicates(files, report);
  for (const file of files) {
    for (const { name } of file.file.procedures)
      if (builtinNamed(name.name) !== undefined) {
        const fix = 'give the procedure another name';
        report(
          file,
          lint('LINT_SHADOWED_BUILTIN', name, `no call reaches this procedure: \`${name.name}\` names a built-in function`, fix),
        );
      }
  }
}

/** A second definition in the same file is a syntax error. One in another file would otherwise be reported only by a run. */
function checkDuplicates(files: readonly CheckedFile[], report: Report): void {
  const defined = new Map<string, CheckedFile>();
  for (const file of files)
    for (const { name } of file.file.procedures) {
      const first = defined.get(name.name);
      if (first === undefined) defined.set(name.name, file);
      else {
        const message = `${first.file.name} also defines the procedure \`${name.name}\`, so the files cannot run together`;
        report(file, lint('LINT_DUPLICATE_PROCEDURE', name, message, 'rename one of them'));
      }
    }
}

class CallChecker {
  readonly #report: Report;
  readonly #procedures: ReadonlyMap<string, readonly Procedure[]>;
  readonly #tools: ReadonlyMap<string, ToolShape>;
  readonly #complete: boolean;
  readonly #denied: ReadonlyMap<string, string>;
  readonly #similarProcedures: Suggestions;
  readonly #similarTools: Suggestions;
  /** What is said of the unknown tools of a group. */
  readonly #advice = new Map<string, string>();

  constructor(files: readonly CheckedFile[], environment: Environment, comparisons: Comparisons, report: Report) {
    this.#report = report;
    this.#procedures = new Map([...(environment.procedures ?? []), ...proceduresOf(files)]);
    this.#tools = new Map((environment.tools ?? []).map((tool) => [tool.name, tool]));
    this.#complete = environment.complete ?? false;
    const callable = [...this.#procedures.keys(), ...Object.keys(BUILTINS)];
    this.#similarProcedures = new Suggestions(callable, nearestName, comparisons);
    this.#similarTools = new Suggestions([...this.#tools.keys()], nearestTool, comparisons);
    this.#denied = new Map((environment.denied ?? []).map(({ name, reason }) => [name, reason]));
  }

  expression(file: CheckedFile, expr: Expr): void {
    if (expr.k === 'call') this.#call(file, expr);
    else if (expr.k === 'tool') this.#toolCall(file, expr);
  }

  #call(file: CheckedFile, expr: CallExpr): void {
    const { name } = expr.name;
    const given = expr.args.length;
    if (builtinNamed(name) !== undefined) {
      if (given !== BUILTIN_ARITY)
        this.#wrongCount(file, expr, `the built-in \`${name}\``, { least: BUILTIN_ARITY, most: BUILTIN_ARITY });
      return;
    }
    const found = this.#procedures.get(name) ?? [];
    const [first] = found;
    if (first === undefined) this.#unknownProcedure(file, expr);
    else if (!found.some((procedure) => acceptsCount(procedure, given))) {
      const least = first.needs.length;
      this.#wrongCount(file, expr, `\`${name}\``, { least, most: least + first.optional.length });
    }
  }

  #unknownProcedure(file: CheckedFile, { name }: CallExpr): void {
    const instead = foreignFunction(name.name);
    const meant = instead === undefined ? this.#similarProcedures.of(name.name) : undefined;
    const fix =
      instead ??
      (meant === undefined
        ? `define it with \`func ${name.name}(…) means\`, or check this file together with the one that defines it`
        : `did you mean \`${meant}\`?`);
    const edits = meant === undefined ? [] : [{ s: name.s, e: name.e, text: meant }];
    this.#report(file, lint('LINT_UNKNOWN_PROCEDURE', name, `no procedure is named \`${name.name}\``, fix, edits));
  }

  #toolCall(file: CheckedFile, expr: ToolCallExpr): void {
    const reason = this.#denied.get(expr.name);
    const span = writtenName(file, expr);
    const tool = this.#tools.get(expr.name);
    if (this.#complete && tool === undefined) this.#unknownTool(file, expr);
    else if (reason !== undefined) {
      const fix = 'use another tool: only who writes the policy can allow this one';
      const denied = lint('LINT_DENIED_TOOL', span, `\`${expr.written}\` cannot be called: ${reason}`, fix);
      this.#report(file, { ...denied, tool: expr.name });
    }
    for (const [index, arg] of expr.args.entries()) {
      const wanted = tool?.takes?.[index];
      const given = LITERALS.get(arg.k);
      if (wanted === undefined || wanted === null || given === undefined || given === wanted) continue;
      // A text may be that of a number.
      if (wanted === 'number' && given === 'string') continue;
      const message = `argument ${index + 1} of \`${expr.written}\` has to be a ${wanted}, and this is a ${given}`;
      const fix = arg.k === 'num' && wanted === 'string' ? `put it in quotes: \`"${arg.v}"\`` : `give it a ${wanted}`;
      this.#report(file, lint('LINT_ARGUMENT_TYPE', arg, message, fix));
    }
    if (tool !== undefined && (expr.args.length < tool.least || expr.args.length > tool.most))
      this.#wrongCount(file, expr, `\`${expr.written}\``, tool);
  }

  #unknownTool(file: CheckedFile, expr: ToolCallExpr): void {
    const span = writtenName(file, expr);
    const instead = foreignTool(...toolParts(expr.name));
    const meant = instead === undefined ? this.#similarTools.of(expr.name) : undefined;
    const fix = instead ?? (meant === undefined ? this.#toolsLike(expr.name) : `did you mean \`${meant}\`?`);
    const replaceable = meant !== undefined && span.e - span.s === expr.written.length;
    const edits: RawEdit[] = replaceable ? [{ ...span, text: meant }] : [];
    this.#report(file, lint('LINT_UNKNOWN_TOOL', span, `no tool is named \`${expr.written}\``, fix, edits));
  }

  /** What there is in the group of an unknown tool, or else which groups there are. */
  #toolsLike(name: string): string {
    const [group] = toolParts(name);
    const advice = this.#advice.get(group) ?? this.#adviceOn(name);
    this.#advice.set(group, advice);
    return advice;
  }

  #adviceOn(name: string): string {
    const known = [...this.#tools.keys()];
    const groups = new Set(known.map((each) => `${toolParts(each)[0]}.…`));
    if (groups.size === 0) return 'no tools are known: do it without one';
    return groupAdvice(name, known) ?? `there are ${named([...groups])}`;
  }

  #wrongCount(file: CheckedFile, expr: CallExpr | ToolCallExpr, what: string, shape: Omit<ToolShape, 'name'>): void {
    const { least, most, form, takes: [kind] = [] } = shape;
    const takes = least === most ? `${most}` : `${least} to ${most}`;
    const message = `${what} takes ${takes} argument${takes === '1' ? '' : 's'}, not ${expr.args.length}`;
    const [begin, end] = [expr.args[0]?.s, expr.args.at(-1)?.e];
    const isListed = expr.args.some(({ k }) => k === 'list' || k === 'str');
    const named = byNames(shape, expr.args);
    if (named !== null) {
      const texts = named.map(({ s, e }) => file.text.slice(s, e));
      const edits = expr.args.map(({ s, e }) => ({ s, e, text: texts.join(', ') }));
      const fix = `arguments have no names: put them in their order: ${form}`;
      this.#report(file, lint('LINT_ARGUMENT_COUNT', expr, message, fix, edits));
      return;
    }
    // `Max(a, b)` of other languages is that of a list here.
    if (most === 1 && kind === 'list' && begin !== undefined && end !== undefined && expr.args.length > 1 && !isListed) {
      const edits: RawEdit[] = [
        { s: begin, e: begin, text: '[' },
        { s: end, e: end, text: ']' },
      ];
      this.#report(file, lint('LINT_ARGUMENT_COUNT', expr, message, 'put the arguments in one list: `[a, b]`', edits));
      return;
    }
    const change = expr.args.length < least ? 'add the missing arguments' : 'remove the surplus arguments';
    this.#report(file, lint('LINT_ARGUMENT_COUNT', expr, message, form === undefined ? change : `${change}: ${form}`));
  }
}

/** The values of a map that has the arguments by name, in their order; null for anything else. */
function byNames({ names = [], least }: Omit<ToolShape, 'name'>, [map, ...more]: readonly Expr[]): readonly Expr[] | null {
  if (map?.k !== 'map' || more.length > 0 || map.entries.length < Math.max(least, 2)) return null;
  const values = new Map(map.entries.map(([key, value]) => [key.k === 'str' ? key.v : '', value]));
  const ordered = names.slice(0, values.size).flatMap((name) => values.get(name) ?? []);
  return ordered.length === map.entries.length ? ordered : null;
}

/** What literals are, as `typeof` says it. */
const LITERALS: ReadonlyMap<Expr['k'], string> = new Map([
  ['num', 'number'],
  ['str', 'string'],
  ['template', 'string'],
  ['bool', 'boolean'],
  ['list', 'list'],
  ['map', 'map'],
]);

/** The span of the tool's name; the span of the whole call where blanks interrupt the name. */
function writtenName({ text }: CheckedFile, { s, e, written }: ToolCallExpr): { readonly s: number; readonly e: number } {
  return text.startsWith(written, s) ? { s, e: s + written.length } : { s, e };
}
