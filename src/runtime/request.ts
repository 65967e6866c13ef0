import { ConfigError } from '../wire/errors.ts';
import {
  checkCallback,
  checkFlag,
  checkList,
  checkObject,
  checkOptions,
  checkSignal,
  checkText,
  type KeysOf,
} from '../wire/options.ts';
import type { EventInput, Source, Variable } from '../wire/protocol.ts';
import type { Again, PerformRequest } from './perform.ts';

const REQUEST_KEYS: KeysOf<PerformRequest> = {
  sources: true,
  call: true,
  events: true,
  globals: true,
  variables: true,
  redefine: true,
  limits: true,
  signal: true,
  turn: true,
  checkFirst: true,
  onOut: true,
  onCall: true,
  onInput: true,
  again: true,
  mayWait: true,
};
const AGAIN_KEYS: KeysOf<Again> = { input: true, calls: true };
const SOURCE_KEYS: KeysOf<Source> = { name: true, text: true, definitions: true, interactive: true };
const VARIABLE_KEYS: KeysOf<Variable> = { name: true, value: true };

/** The keys of a call. */
export const CALL_KEYS: KeysOf<NonNullable<PerformRequest['call']>> = { name: true, args: true };

/** The keys of an event. */
export const EVENT_KEYS: KeysOf<EventInput> = { name: true, source: true, payload: true, id: true, ts: true };

/** Throws `ConfigError` (`ERR_CONFIG`) for a request of the wrong form. Values, names of globals and limits are looked at where they are used. */
export function checkRequest(request: PerformRequest): void {
  checkOptions('the request of a run', request, REQUEST_KEYS);
  const {
    sources = [],
    call,
    events = [],
    globals = {},
    variables = [],
    limits = {},
    signal,
    onOut,
    onCall,
    onInput,
    again,
  } = request;
  checkSources(sources);
  if (call !== undefined) {
    checkOptions('call', call, CALL_KEYS);
    checkText('the name of call', call.name);
    checkList('the args of call', call.args);
  }
  checkList('events', events);
  for (const event of events) {
    checkOptions('an event', event, EVENT_KEYS);
    checkText('the name of an event', event.name);
    checkText('the source of an event', event.source);
    if (event.id !== undefined) checkText('the id of an event', event.id);
    if (event.ts !== undefined) checkTime('the ts of an event', event.ts);
  }
  checkObject('globals', globals);
  checkList('variables', variables);
  for (const variable of variables) {
    checkOptions('a variable', variable, VARIABLE_KEYS);
    checkText('the name of a variable', variable.name);
  }
  if (request.redefine !== undefined) checkFlag('redefine', request.redefine);
  checkObject('limits', limits);
  if (request.checkFirst !== undefined) checkFlag('checkFirst', request.checkFirst);
  checkSignal('signal', signal);
  checkCallback('onOut', onOut);
  checkCallback('onCall', onCall);
  checkCallback('onInput', onInput);
  if (again !== undefined) checkOptions('again', again, AGAIN_KEYS);
}

function checkTime(what: string, value: unknown): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw new ConfigError(`${what} must be Unix nanoseconds, a number from 0`);
}

/** Throws `ConfigError` (`ERR_CONFIG`) unless these are sources; anything else would cost the worker that parses it. */
export function checkSources(sources: readonly Source[]): void {
  checkList('sources', sources);
  for (const source of sources) {
    checkOptions('a source', source, SOURCE_KEYS);
    checkText('the name of a source', source.name);
    checkText('the text of a source', source.text);
    if (source.definitions !== undefined) checkFlag('definitions of a source', source.definitions);
    if (source.interactive !== undefined) checkFlag('interactive of a source', source.interactive);
  }
}
