/** Variables that are read but never set, set but never read, or have the name of a global. */
import type { Block, Stmt } from '../syntax/ast.ts';
import type { Expr, Name } from '../syntax/astexpressions.ts';
import { childrenOf, eachBlock, eachStatement, expressionsOf, setBy, targetsOf } from '../syntax/walk.ts';
import { ERROR_VARIABLES, SELF } from '../vocabulary/builtins.ts';
import { type Comparisons, Suggestions } from '../vocabulary/names.ts';
import { nearestName } from '../vocabulary/spelling.ts';
import { type CheckedFile, type Environment, lint, type RawEdit, type Report } from './finding.ts';
import { type Unit, unitsOf } from './scopes.ts';
import { answering } from './unseen.ts';

export function factsOf(files: readonly CheckedFile[]): readonly Facts[] {
  return unitsOf(files).map((unit) => new Facts(unit));
}

/** Checks that no unit sets a global. */
export function checkGlobals(all: readonly Facts[], globals: ReadonlySet<string>, report: Report): void {
  for (const { sets, writes } of all)
    for (const place of sets) {
      if (!globals.has(place.name) || writes.get(place.name)?.role !== 'set') continue;
      const message = `\`${place.name}\` is a global, which a program can read but not set`;
      report(place.file, lint('LINT_SET_GLOBAL', place, message, 'set a variable with another name'));
    }
}

export function checkVariables(
  files: readonly CheckedFile[],
  all: readonly Facts[],
  environment: Environment,
  comparisons: Comparisons,
  report: Report,
): void {
  const answers = answering(environment);
  const known: Known = { globals: globalsOf(environment), constants: new Set(environment.constants), answers, comparisons };
  for (const facts of all) checkUnit(facts, known, report);
  for (const file of files) {
    for (const { event } of file.file.events) {
      const facts = new Facts({ kind: 'event', parts: [], parameters: [] });
      facts.read(file, event);
      checkReads(facts, known, report);
    }
  }
}

export function globalsOf({ globals = [] }: Environment): ReadonlySet<string> {
  return new Set([SELF, ...globals]);
}

/** Names that are defined outside the program. */
interface Known {
  readonly globals: ReadonlySet<string>;
  readonly constants: ReadonlySet<string>;
  /** Tools whose result is to be tested. */
  readonly answers: ReadonlySet<string>;
  readonly comparisons: Comparisons;
}

interface Place extends Name {
  readonly file: CheckedFile;
  /** The tool whose result the place receives. */
  readonly tool?: string;
}

type Role = 'parameter' | 'loop' | 'set';

/** The names that a unit reads and writes. */
export class Facts {
  readonly unit: Unit;
  readonly reads: Place[] = [];
  /** Map keys that are bare names: `{a: 1}`. They are reads with a finding of their own. */
  readonly keys: Place[] = [];
  /** `[[name]]` without blanks between the brackets. Other implementations read it as text; here it is a list. */
  readonly brackets: Place[] = [];
  readonly writes = new Map<string, Place & { readonly role: Role }>();
  /** Every target of `set` and `into`: a variable, or an element of one. */
  readonly sets: Place[] = [];
  readonly readNames = new Set<string>();
  /** Whether `eval` fills in a text that is unknown before the run, so that it may read any variable. */
  readsAnything = false;
  /** Whether the unit has `last`, which reads the value of a statement instead of the variable that received it. */
  usesLast = false;

  constructor(unit: Unit) {
    this.unit = unit;
    const [first] = unit.parts;
    if (first !== undefined) for (const name of unit.parameters) this.#write(first.file, name, 'parameter');
    for (const { file, body } of unit.parts) {
      eachStatement(body, (stmt) => this.#statement(file, stmt));
      eachBlock(body, (block) => this.#handler(file, block));
    }
  }

  #statement(file: CheckedFile, stmt: Stmt): void {
    for (const expr of expressionsOf(stmt)) this.read(file, expr);
    for (const { name } of targetsOf(stmt)) {
      this.#write(file, name, 'set', stmt.k === 'set' && stmt.value.k === 'tool' ? { tool: stmt.value.name } : {});
      this.sets.push({ ...name, file });
    }
    if (stmt.k !== 'for') return;
    this.#write(file, stmt.item, 'loop');
    if (stmt.key !== undefined) this.#write(file, stmt.key, 'loop');
  }

  #handler(file: CheckedFile, { onError }: Block): void {
    if (onError === undefined) return;
    for (const name of ERROR_VARIABLES) {
      this.#write(file, { name, s: onError.s, e: onError.s }, 'loop');
      this.readNames.add(name);
    }
  }

  #write(file: CheckedFile, name: Name, role: Role, from: Pick<Place, 'tool'> = {}): void {
    const known = this.writes.get(name.name);
    if (known === undefined || (known.role === 'set' && role !== 'set'))
      this.writes.set(name.name, { ...name, file, role, ...from });
  }

  read(file: CheckedFile, expr: Expr): void {
    const bracketed = doubleBracketed(expr);
    if (expr.k === 'name') {
      this.reads.push({ name: expr.name, s: expr.s, e: expr.e, file });
      this.readNames.add(expr.name);
    } else if (expr.k === 'last') {
      this.usesLast = true;
    } else if (expr.k === 'eval') {
      this.#evaluation(file, expr.of);
    } else if (bracketed !== undefined) {
      this.brackets.push({ name: bracketed, s: expr.s, e: expr.e, file });
      this.readNames.add(bracketed);
    } else if (expr.k === 'map') {
      for (const [key, value] of expr.entries) {
        if (key.k === 'name') {
          this.keys.push({ name: key.name, s: key.s, e: key.e, file });
          this.readNames.add(key.name);
        } else this.read(file, key);
        this.read(file, value);
      }
    } else {
      for (const child of childrenOf(expr)) this.read(file, child);
    }
  }

  /** `eval` fills variables into a text. The names are known only if the text is a literal. */
  #evaluation(file: CheckedFile, of: Expr): void {
    if (of.k === 'group') this.#evaluation(file, of.of);
    else if (of.k === 'str') {
      for (const [, name = ''] of of.v.matchAll(FILLED)) {
        this.reads.push({ name, s: of.s, e: of.e, file });
        this.readNames.add(name);
      }
    } else {
      this.readsAnything = true;
      this.read(file, of);
    }
  }
}

/** The name in `[[name]]`, written without blanks between the brackets; undefined for any other expression. */
function doubleBracketed(expr: Expr): string | undefined {
  const inner = expr.k === 'list' && expr.items.length === 1 ? expr.items[0] : undefined;
  const name = inner?.k === 'list' && inner.items.length === 1 ? inner.items[0] : undefined;
  return name?.k === 'name' && inner?.s === expr.s + 1 && inner.e === expr.e - 1 ? name.name : undefined;
}

const FILLED = /\{\{\s*([A-Za-z_]\w*)/g;

function checkUnit(facts: Facts, known: Known, report: Report): void {
  const { globals, constants } = known;
  checkReads(facts, known, report);
  checkUnused(facts, known, report);
  for (const place of facts.writes.values()) {
    const global = globals.has(place.name);
    if (place.s === place.e || (place.role === 'set' && global) || (!global && !constants.has(place.name))) continue;
    const what = global ? 'a global' : 'a global constant';
    const message = `this variable hides ${what}: \`${place.name}\``;
    report(place.file, lint('LINT_SHADOWED_GLOBAL', place, message, 'give it another name'));
  }
}

function checkReads(facts: Facts, { globals, constants, comparisons }: Known, report: Report): void {
  const isSet = (name: string): boolean => facts.writes.has(name) || globals.has(name) || constants.has(name);
  const similar = new Suggestions([...facts.writes.keys(), ...globals, ...constants], nearestName, comparisons);
  for (const place of facts.reads) {
    if (isSet(place.name)) continue;
    const meant = similar.of(place.name);
    const fix = meant === undefined ? 'set it first, or put it in quotes if it is text' : `did you mean \`${meant}\`?`;
    // Only the name itself can be replaced, not a text that contains it.
    const edits = meant === undefined || place.e - place.s !== place.name.length ? [] : [{ s: place.s, e: place.e, text: meant }];
    report(place.file, lint('LINT_NEVER_SET', place, `\`${place.name}\` is never set, so it is nil`, fix, edits));
  }
  for (const place of facts.keys) {
    if (isSet(place.name)) continue;
    const message = `the key is the value of the variable \`${place.name}\`, which is never set`;
    const edit: RawEdit = { s: place.s, e: place.e, text: `"${place.name}"` };
    report(place.file, lint('LINT_MAP_KEY', place, message, `put the key in quotes: \`"${place.name}"\``, [edit]));
  }
  for (const place of facts.brackets) {
    if (isSet(place.name)) continue;
    const message = `this is not text but a list in a list, with the variable \`${place.name}\`, which is never set`;
    const edit: RawEdit = { s: place.s, e: place.e, text: `"${place.name}"` };
    report(place.file, lint('LINT_DOUBLE_BRACKET', place, message, `put the text in quotes: \`"${place.name}"\``, [edit]));
  }
}

function checkUnused(facts: Facts, { globals, answers }: Known, report: Report): void {
  if (facts.readsAnything) return;
  const results = impliedResults(facts.unit);
  for (const place of facts.writes.values()) {
    const { name, role } = place;
    if (facts.readNames.has(name) || name.startsWith('_') || globals.has(name)) continue;
    if (role === 'set') {
      if (facts.usesLast || results.has(name)) continue;
      const fix =
        place.tool !== undefined && answers.has(place.tool)
          ? `test it: the call says whether it did what it was called for, as in \`if ${name}\``
          : 'delete it; to keep only the effect of a call, write `call`';
      report(place.file, lint('LINT_UNUSED_VARIABLE', place, `\`${name}\` is set and never read`, fix));
    } else {
      const what = role === 'parameter' ? 'parameter' : 'loop variable';
      const fix = `if that is intended, begin the name with an underscore: \`_${name}\``;
      const edits = [{ s: place.s, e: place.e, text: `_${name}` }];
      report(place.file, lint('LINT_UNUSED_PARAMETER', place, `the ${what} \`${name}\` is never read`, fix, edits));
    }
  }
}

/** The variables set by the last statement of a procedure: its value is the result of a procedure without `return`. */
function impliedResults({ kind, parts: [part] }: Unit): ReadonlySet<string> {
  const last = kind === 'procedure' ? part?.body.stmts.findLast(({ k }) => VALUED.has(k)) : undefined;
  return new Set(last === undefined ? [] : setBy(last));
}

const VALUED: ReadonlySet<string> = new Set(['set', 'call', 'emit', 'whisper', 'must', 'ask', 'promptuser']);
