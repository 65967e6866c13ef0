import type { AskStmt, PromptStmt, ReturnStmt, SetStmt, Stmt, WhisperStmt } from '../../grammar/index.ts';
import type { Context, TogetherCompilers } from './context.ts';
import { describe } from './describe.ts';
import { InternalError } from './errors.ts';
import { BREAK, CONTINUE, type Eval, type Exec, type Frame, NORMAL, RETURN, rareOf } from './frame.ts';
import { ask, promptUser } from './hostcalls.ts';
import { compileFor, compileWhile } from './loops.ts';
import type { Machine } from './machine.ts';
import { newList } from './measure.ts';
import { listBytes } from './memory.ts';
import { toText } from './text.ts';
import { Dict, truthy, type Value } from './values.ts';

/** Compiles one statement. Its fuel is paid before it runs. */
export function compileStmt(context: Context, stmt: Stmt): Exec {
  const { machine } = context;
  const at = stmt.s;
  switch (stmt.k) {
    case 'set':
      return compileSet(context, stmt);
    case 'call':
      return valued(context, context.expr(stmt.call));
    case 'return':
      return compileReturn(context, stmt);
    case 'emit': {
      const value = context.statementValue(stmt.value);
      return valued(context, (frame) => {
        const emitted = value(frame);
        machine.at = at;
        machine.output.emit(emitted);
        return emitted;
      });
    }
    case 'whisper':
      return compileWhisper(context, stmt);
    case 'must': {
      const value = context.statementValue(stmt.cond);
      const { text } = stmt;
      return valued(context, (frame) => {
        const condition = value(frame);
        if (truthy(condition)) return condition;
        machine.at = at;
        return machine.fail('MustFailed', `must condition evaluated to false: ${text}`);
      });
    }
    case 'fail': {
      const message = stmt.value === undefined ? undefined : context.expr(stmt.value);
      return (frame) => {
        const value = message === undefined ? 'fail statement executed' : message(frame);
        machine.at = at;
        return machine.fail('FailStatement', toText(machine, value));
      };
    }
    case 'clear_error':
      if (!context.inHandler) return refusing(machine, at, 'ClearViolation', 'clear_error works inside an on error block only');
      return (frame) => {
        rareOf(frame).cleared = true;
        return NORMAL;
      };
    case 'clear_event': {
      const { linkage } = context;
      const { named } = stmt;
      if (named !== undefined) {
        return () => {
          linkage.clearNamed(named);
          return NORMAL;
        };
      }
      if (stmt.event === undefined) throw new InternalError('clear event without an event');
      const event = context.expr(stmt.event);
      return (frame) => {
        const name = event(frame);
        machine.at = at;
        linkage.clearEvent(toText(machine, name));
        return NORMAL;
      };
    }
    case 'ask':
      return compileAsk(context, stmt);
    case 'promptuser':
      return compilePrompt(context, stmt);
    case 'break':
    case 'continue': {
      if (context.loops === 0) return refusing(machine, at, 'ControlFlow', `${stmt.k} stands outside of any loop`);
      const completion = stmt.k === 'break' ? BREAK : CONTINUE;
      return () => completion;
    }
    case 'if': {
      const condition = context.expr(stmt.cond);
      const then = context.nested(stmt.then);
      const otherwise = stmt.else === undefined ? undefined : context.nested(stmt.else);
      return (frame) => {
        const value = condition(frame);
        if (value === true || (value !== false && truthy(value))) return then(frame);
        return otherwise === undefined ? NORMAL : otherwise(frame);
      };
    }
    case 'while':
      return compileWhile(context, stmt);
    case 'for':
      return stmt.together === true ? togetherOf(context).compileForTogether(context, stmt) : compileFor(context, stmt);
    case 'together':
      return togetherOf(context).compileTogether(context, stmt);
    case 'on_event':
    case 'on_error':
      return () => NORMAL;
    default:
      return unknown(stmt);
  }
}

function togetherOf({ compilers: { together } }: Context): TogetherCompilers {
  if (together === null) throw new InternalError('the part of the interpreter for calls that run together is not loaded');
  return together;
}

function unknown(stmt: never): never {
  throw new InternalError(`unknown statement ${JSON.stringify(stmt).slice(0, 100)}`);
}

/** A statement that always fails where it stands. */
function refusing(machine: Machine, at: number, code: Parameters<Machine['fail']>[0], message: string): Exec {
  return () => {
    machine.at = at;
    return machine.fail(code, message);
  };
}

/** A statement with a value, which is kept for `last`, and at the top level of a procedure as its possible result. */
function valued(context: Context, run: Eval): Exec {
  const { keepsLast, top } = context;
  if (!keepsLast && !top) {
    return (frame) => {
      run(frame);
      return NORMAL;
    };
  }
  return (frame) => {
    const value = run(frame);
    if (top) frame.out = value;
    if (keepsLast) frame.last = value;
    return NORMAL;
  };
}

function compileSet(context: Context, stmt: SetStmt): Exec {
  const value = context.stored(stmt.value);
  const [target] = stmt.targets;
  const single = stmt.targets.length === 1 && target?.steps.length === 0;
  if (single && !context.isGlobal(target.name.name) && !context.keepsLast && !context.top) {
    const slot = context.scope.slot(target.name.name);
    return (frame) => {
      frame.slots[slot] = value(frame);
      return NORMAL;
    };
  }
  const store = context.compilers.targets(context, stmt);
  return valued(context, (frame) => {
    const stored = value(frame);
    store(frame, stored);
    return stored;
  });
}

/** `return`. A returned variable need not be shared, because its frame ends here. */
function compileReturn(context: Context, stmt: ReturnStmt): Exec {
  const { machine } = context;
  const at = stmt.s;
  if (context.inHandler)
    return refusing(
      machine,
      at,
      'ReturnViolation',
      'return cannot leave an on error block; use clear_error and return after the failing statement',
    );
  const [first] = stmt.values;
  if (first === undefined) {
    return (frame) => {
      frame.out = null;
      return RETURN;
    };
  }
  if (stmt.values.length === 1) {
    const value = first.k === 'name' && !context.isGlobal(first.name) ? context.expr(first) : context.stored(first);
    return (frame) => {
      frame.out = value(frame);
      return RETURN;
    };
  }
  const values = stmt.values.map((value) => context.stored(value));
  context.spend(values.length);
  return (frame) => {
    const items: Value[] = [];
    for (const value of values) items.push(value(frame));
    machine.at = at;
    machine.allocate(listBytes(items.length));
    frame.out = newList(machine, items);
    return RETURN;
  };
}

function compileWhisper(context: Context, stmt: WhisperStmt): Exec {
  const { machine } = context;
  const handle = context.expr(stmt.handle);
  const value = context.statementValue(stmt.value);
  return valued(context, (frame) => {
    const to = handle(frame);
    const data = value(frame);
    machine.at = stmt.s;
    machine.output.whisper(to, data);
    return data;
  });
}

/** Evaluates expressions in their order. */
type Evaluate = (frame: Frame, evals: readonly Eval[]) => readonly Value[];
const inOrder: Evaluate = (frame, evals) => evals.map((each) => each(frame));

/** `ask`, with the name of the model as text, the prompt as it is, and the options as a map (P27, P34). */
export function compileAsk(context: Context, stmt: AskStmt, evaluate: Evaluate = inOrder): Exec {
  const { machine } = context;
  const asked = [stmt.model, stmt.prompt, ...(stmt.with === undefined ? [] : [stmt.with])].map((part) => context.expr(part));
  const store = stmt.into === undefined ? undefined : context.compilers.target(context, stmt.into);
  return valued(context, (frame) => {
    const [model = null, prompt = null, given = null] = evaluate(frame, asked);
    const options = stmt.with === undefined ? null : optionsOf(machine, given, stmt.with.s);
    machine.at = stmt.s;
    const answer = ask(machine, frame, toText(machine, model), prompt, options);
    store?.(frame, answer);
    return answer;
  });
}

function optionsOf(machine: Machine, value: Value, at: number): Value {
  if (value === null || value instanceof Dict) return value;
  machine.at = at;
  return machine.fail('Type', `the options of ask are a map, got ${describe(value)}`, 'write \'with {"max_turns": 3}\'');
}

const NO_INPUT = 'pass the value as a global (--global NAME=JSON); a program from standard input (-) leaves no input to read';

function compilePrompt(context: Context, stmt: PromptStmt): Exec {
  const { machine } = context;
  const prompt = context.expr(stmt.prompt);
  const store = context.compilers.target(context, stmt.into);
  return valued(context, (frame: Frame) => {
    const value = prompt(frame);
    machine.at = stmt.s;
    const text = toText(machine, value);
    if (!machine.stdin) machine.fail('IOFailed', 'failed to get user input: this run has no standard input', NO_INPUT);
    const line = promptUser(machine, frame, text);
    if (typeof line !== 'string') throw new InternalError('the host answered promptuser with something that is not text');
    const trimmed = line.trim();
    store(frame, trimmed);
    return trimmed;
  });
}
