/**
 * Prints a tree as source text in one canonical form: parsing the text gives the same tree, apart from spans. Parentheses are
 * printed where the tree has them, so a tree built by hand must have them where precedence needs them. Templates are printed
 * with backticks, so a template within a part of a template, which only `[[` allows, cannot be printed.
 */
import type { Block, CommandBlock, EventHandler, Metadata, Procedure, SourceFile, Stmt } from '../../grammar/syntax/ast.ts';
import type { Name } from '../../grammar/syntax/astexpressions.ts';
import { bodiesOf, eachStatement } from '../../grammar/syntax/walk.ts';
import { printExpression, printSteps, quoted } from './printexpression.ts';

/** The text of a whole file. Its blocks come in the order of their spans. */
export function print(file: SourceFile): string {
  const printer = new Printer(file.events);
  const nested = new Set<number>();
  for (const body of bodiesOf(file))
    eachStatement(body, (stmt) => {
      if (stmt.k === 'on_event') nested.add(stmt.index);
    });
  const blocks = [
    ...file.procedures.map((procedure) => ({ at: procedure.s, lines: printer.procedure(procedure) })),
    ...file.commands.map((command) => ({ at: command.s, lines: printer.command(command) })),
    ...file.events.flatMap((event, index) => (nested.has(index) ? [] : { at: event.s, lines: printer.event(event, '') })),
  ].sort((a, b) => a.at - b.at);
  const parts = [metadata(file.metadata, ''), ...blocks.map((block) => block.lines)];
  return parts
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join('\n')}\n`)
    .join('\n');
}

function metadata(entries: Metadata, indent: string): string[] {
  // A backslash at the end of a value would continue the line, so an empty comment follows it.
  return entries.map(([key, value]) => `${indent}:: ${key}: ${value}${value.endsWith('\\') ? ' #' : ''}`.trimEnd());
}

function names(keyword: string, items: readonly Name[]): string[] {
  return items.length === 0 ? [] : [`${keyword} ${items.map((item) => item.name).join(', ')}`];
}

/** Prints blocks as lines. */
class Printer {
  readonly #events: readonly EventHandler[];

  constructor(events: readonly EventHandler[]) {
    this.#events = events;
  }

  procedure({ name, needs, optional, returns, metadata: entries, body }: Procedure): string[] {
    const clauses = [...names('needs', needs), ...names('optional', optional), ...names('returns', returns)].join(' ');
    return [`func ${name.name}(${clauses}) means`, ...metadata(entries, '  '), ...this.#block(body, '  '), 'endfunc'];
  }

  command({ metadata: entries, body }: CommandBlock): string[] {
    return ['command', ...metadata(entries, '  '), ...this.#block(body, '  '), 'endcommand'];
  }

  event({ event, named, as, body }: EventHandler, indent: string): string[] {
    const handler = named === undefined ? '' : ` named ${quoted(named)}`;
    const variable = as === undefined ? '' : ` as ${as.name}`;
    const head = `${indent}on event ${printExpression(event)}${handler}${variable} do`;
    return [head, ...this.#block(body, `${indent}  `), `${indent}endon`];
  }

  #block(block: Block, indent: string): string[] {
    return block.stmts.flatMap((statement) => this.#statement(statement, block, indent));
  }

  #statement(statement: Stmt, parent: Block, indent: string): string[] {
    const inner = `${indent}  `;
    switch (statement.k) {
      case 'if': {
        const otherwise = statement.else === undefined ? [] : [`${indent}else`, ...this.#block(statement.else, inner)];
        return [
          `${indent}if ${printExpression(statement.cond)}`,
          ...this.#block(statement.then, inner),
          ...otherwise,
          `${indent}endif`,
        ];
      }
      case 'while':
        return [`${indent}while ${printExpression(statement.cond)}`, ...this.#block(statement.body, inner), `${indent}endwhile`];
      case 'for': {
        const key = statement.key === undefined ? '' : `${statement.key.name}, `;
        const head = `${indent}for each ${key}${statement.item.name} in ${printExpression(statement.over)}${statement.together === true ? ' together' : ''}`;
        return [head, ...this.#block(statement.body, inner), `${indent}endfor`];
      }
      case 'together':
        return [`${indent}together`, ...this.#block(statement.body, inner), `${indent}endtogether`];
      case 'on_event': {
        const event = this.#events[statement.index];
        return event === undefined ? [] : this.event(event, indent);
      }
      case 'on_error': {
        const handler = parent.onError;
        return handler === undefined ? [] : [`${indent}on error do`, ...this.#block(handler.body, inner), `${indent}endon`];
      }
      default:
        return [indent + line(statement)];
    }
  }
}

type SimpleStmt = Exclude<Stmt, { k: 'if' | 'while' | 'for' | 'together' | 'on_event' | 'on_error' }>;

function line(statement: SimpleStmt): string {
  switch (statement.k) {
    case 'set': {
      const targets = statement.targets.map((target) => target.name.name + printSteps(target.steps));
      return `set ${targets.join(', ')} = ${printExpression(statement.value)}`;
    }
    case 'call':
      return `call ${printExpression(statement.call)}`;
    case 'return':
      return ['return', statement.values.map(printExpression).join(', ')].join(' ').trimEnd();
    case 'emit':
      return `emit ${printExpression(statement.value)}`;
    case 'whisper':
      return `whisper ${printExpression(statement.handle)}, ${printExpression(statement.value)}`;
    case 'must':
      return `must ${printExpression(statement.cond)}`;
    case 'fail':
      return statement.value === undefined ? 'fail' : `fail ${printExpression(statement.value)}`;
    case 'clear_event':
      if (statement.named !== undefined) return `clear event named ${quoted(statement.named)}`;
      return `clear event ${statement.event === undefined ? 'nil' : printExpression(statement.event)}`;
    case 'ask': {
      const options = statement.with === undefined ? '' : ` with ${printExpression(statement.with)}`;
      const into = statement.into === undefined ? '' : ` into ${statement.into.name.name}${printSteps(statement.into.steps)}`;
      return `ask ${printExpression(statement.model)}, ${printExpression(statement.prompt)}${options}${into}`;
    }
    case 'promptuser':
      return `promptuser ${printExpression(statement.prompt)} into ${statement.into.name.name}${printSteps(statement.into.steps)}`;
    case 'clear_error':
    case 'break':
    case 'continue':
      return statement.k;
  }
}
