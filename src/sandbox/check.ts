import { type ErrorInfo, type ErrorKind, type StackFrame, WireError } from '../wire/errors.ts';
import { parseFrame } from '../wire/frames.ts';
import type {
  AskLeft,
  CallSite,
  EventError,
  GuestResult,
  Phase,
  Usage,
  Variable,
  Variables,
  Whisper,
  WorkerFrame,
} from '../wire/protocol.ts';

import {
  amount,
  boolean,
  count,
  type Fields,
  integer,
  list,
  oneOf,
  orNull,
  type Reader,
  record,
  shown,
  string,
  tagged,
  wrong,
} from './fields.ts';
import { diagnostic, finding, fuelEstimate, parsedFile } from './report.ts';

/**
 * The worker is untrusted: every frame it sends is read field by field into a new object, so that nothing but what is
 * checked here goes on into the host. Script values stay as the JSON parser made them, plain JSON of bounded depth; those that
 * a result shows have their keys as the script has them.
 */

/** Reads one frame. Throws {@link WireError} that names the first field which is not of the agreed form. */
export function readWorkerFrame(text: string): WorkerFrame {
  const frame = record(parseFrame(text), 'frame');
  const t = frame['t'];
  switch (t) {
    case 'hello':
      return {
        t,
        version: count(frame['version'], 'version'),
        pid: count(frame['pid'], 'pid'),
        node: string(frame['node'], 'node'),
        dropped: list(frame['dropped'], 'dropped', string),
      };
    case 'started':
      return { t, id: count(frame['id'], 'id') };
    case 'out':
      return out(frame);
    case 'tool':
      return { t, ...callHead(frame), name: string(frame['name'], 'name'), args: list(frame['args'], 'args', tagged) };
    case 'prompt':
      return { t, ...callHead(frame), text: string(frame['text'], 'text') };
    case 'ask':
      return {
        t,
        ...callHead(frame),
        model: string(frame['model'], 'model'),
        prompt: tagged(frame['prompt'], 'prompt'),
        options: tagged(frame['options'], 'options'),
        left: askLeft(frame['left']),
      };
    case 'var':
      return {
        t,
        found: boolean(frame['found'], 'found'),
        value: tagged(frame['value'], 'value'),
        error: orNull(frame['error'], 'error', string),
      };
    case 'result':
      return {
        t,
        id: count(frame['id'], 'id'),
        result: result(frame['result']),
        usage: usage(frame['usage']),
        errors: list(frame['errors'], 'errors', diagnostic),
        last: boolean(frame['last'], 'last'),
      };
    case 'parsed':
      return {
        t,
        id: count(frame['id'], 'id'),
        diagnostics: list(frame['diagnostics'], 'diagnostics', diagnostic),
        files: list(frame['files'], 'files', parsedFile),
        ...(frame['open'] === undefined ? {} : { open: list(frame['open'], 'open', string) }),
      };
    case 'checked':
      return {
        t,
        id: count(frame['id'], 'id'),
        diagnostics: list(frame['diagnostics'], 'diagnostics', diagnostic),
        files: list(frame['files'], 'files', parsedFile),
        findings: list(frame['findings'], 'findings', finding),
        estimates: list(frame['estimates'], 'estimates', fuelEstimate),
      };
    case 'formatted':
      return {
        t,
        id: count(frame['id'], 'id'),
        text: orNull(frame['text'], 'text', string),
        diagnostics: list(frame['diagnostics'], 'diagnostics', diagnostic),
      };
    case 'fatal':
      return { t, message: string(frame['message'], 'message') };
    default:
      throw new WireError(`a frame of the unknown type ${JSON.stringify(t)?.slice(0, 40)}`);
  }
}

function askLeft(value: unknown): AskLeft {
  const left = record(value, 'left');
  return {
    fuel: count(left['fuel'], 'left.fuel'),
    memoryBytes: count(left['memoryBytes'], 'left.memoryBytes'),
    toolCalls: count(left['toolCalls'], 'left.toolCalls'),
  };
}

const KINDS: ReadonlySet<unknown> = new Set<ErrorKind>([
  'syntax',
  'runtime',
  'policy',
  'quota',
  'timeout',
  'cancelled',
  'usage',
  'internal',
]);
const PHASES: ReadonlySet<unknown> = new Set<Phase>(['request', 'parse', 'load', 'exec', 'call', 'events']);
const CODE = /^(?:NS\d{1,10}|ERR_[A-Z_]{1,40})$/;

function out(frame: Fields): WorkerFrame {
  const emits = list(frame['emits'], 'emits', string);
  const values = list(frame['values'], 'values', shown);
  if (emits.length !== values.length) wrong('values', `${emits.length} values`);
  return { t: 'out', emits, values, whispers: list(frame['whispers'], 'whispers', whisper) };
}

const whisper: Reader<Whisper> = (value, path) => {
  const { to, text } = record(value, path);
  return { to: string(to, `${path}.to`), text: string(text, `${path}.text`) };
};

function callHead(frame: Fields): { seq: number; at: CallSite } {
  const at = record(frame['at'], 'at');
  return {
    seq: count(frame['seq'], 'seq'),
    at: {
      fork: string(at['fork'], 'at.fork'),
      source: string(at['source'], 'at.source'),
      line: count(at['line'], 'at.line'),
      column: count(at['column'], 'at.column'),
    },
  };
}

function result(value: unknown): GuestResult {
  const fields = record(value, 'result');
  const ok = boolean(fields['ok'], 'result.ok');
  const error = orNull(fields['error'], 'result.error', errorInfo);
  if (ok !== (error === null)) wrong('result.error', ok ? 'null in a success' : 'an error in a failure');
  const given = fields['variables'];
  return {
    ok,
    phase: oneOf<Phase>(PHASES, fields['phase'], 'result.phase'),
    result: shown(fields['result'], 'result.result'),
    eventErrors: list(fields['eventErrors'], 'result.eventErrors', eventError),
    error,
    ...(given === undefined ? {} : { variables: variables(given) }),
    fuel: amount(fields['fuel'], 'result.fuel'),
    peakMemoryBytes: amount(fields['peakMemoryBytes'], 'result.peakMemoryBytes'),
    toolCalls: count(fields['toolCalls'], 'result.toolCalls'),
    outputBytes: count(fields['outputBytes'], 'result.outputBytes'),
  };
}

function variables(value: unknown): Variables {
  const { kept, lost } = record(value, 'result.variables');
  return { kept: list(kept, 'result.variables.kept', variable), lost: list(lost, 'result.variables.lost', string) };
}

const variable: Reader<Variable> = (value, path) => {
  const { name, value: content } = record(value, path);
  return { name: string(name, `${path}.name`), value: tagged(content, `${path}.value`) };
};

const eventError: Reader<EventError> = (value, path) => {
  const { event, error } = record(value, path);
  return { event: string(event, `${path}.event`), error: errorInfo(error, `${path}.error`) };
};

function usage(value: unknown): Usage {
  const fields = record(value, 'usage');
  return {
    fuel: amount(fields['fuel'], 'usage.fuel'),
    cpuMs: amount(fields['cpuMs'], 'usage.cpuMs'),
    wallMs: amount(fields['wallMs'], 'usage.wallMs'),
    peakMemoryBytes: amount(fields['peakMemoryBytes'], 'usage.peakMemoryBytes'),
    toolCalls: count(fields['toolCalls'], 'usage.toolCalls'),
    outputBytes: count(fields['outputBytes'], 'usage.outputBytes'),
  };
}

const errorInfo: Reader<ErrorInfo> = (value, path) => {
  const fields = record(value, path);
  const code = string(fields['code'], `${path}.code`);
  if (!CODE.test(code)) wrong(`${path}.code`, 'an error code');
  const { hint, limit, allowed, used } = fields;
  return {
    kind: oneOf<ErrorKind>(KINDS, fields['kind'], `${path}.kind`),
    code,
    nsCode: orNull(fields['nsCode'], `${path}.nsCode`, integer),
    name: string(fields['name'], `${path}.name`),
    message: string(fields['message'], `${path}.message`),
    source: orNull(fields['source'], `${path}.source`, string),
    line: orNull(fields['line'], `${path}.line`, count),
    column: orNull(fields['column'], `${path}.column`, count),
    ...(hint === undefined ? {} : { hint: string(hint, `${path}.hint`) }),
    stack: list(fields['stack'], `${path}.stack`, stackFrame),
    ...(limit === undefined ? {} : { limit: string(limit, `${path}.limit`) }),
    ...(allowed === undefined ? {} : { allowed: amount(allowed, `${path}.allowed`) }),
    ...(used === undefined ? {} : { used: amount(used, `${path}.used`) }),
  };
};

const stackFrame: Reader<StackFrame> = (value, path) => {
  const { name, source, line, column } = record(value, path);
  return {
    name: string(name, `${path}.name`),
    source: string(source, `${path}.source`),
    line: count(line, `${path}.line`),
    column: count(column, `${path}.column`),
  };
};
