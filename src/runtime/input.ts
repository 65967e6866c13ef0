import { checkLimits, tighten } from '../sandbox/index.ts';
import { flowInput, flowOf } from '../tools/index.ts';
import { defined } from '../wire/defined.ts';
import { ConfigError } from '../wire/errors.ts';
import { checkTagged } from '../wire/foreign.ts';
import type { LimitValues } from '../wire/limits.ts';
import type { EventInput, RunInput, Source, TaggedJson } from '../wire/protocol.ts';
import type { RunContext } from './context.ts';
import type { RunRequest } from './request.ts';
import { limitsLeft } from './tenants.ts';
import { checkGlobalName } from './values.ts';

/** A source without a match calls no tool: it has neither the keyword nor a character that cleaning may remove from within one. */
const MAY_CALL = /tool|[^\t\n\r -~]/;

/** Caches whether a frozen list of sources may call a tool, because searching 60 KB takes 50 µs. */
const searched = new WeakMap<Source, boolean>();

/** The input of the worker for one run. `said`: labels of what earlier programs of the session have said. Throws `ConfigError` for invalid names, values and limits. */
export function inputOf(context: RunContext, request: RunRequest, said: ReadonlySet<string> = new Set()): RunInput {
  const { root, forkId, tools, guards } = context;
  const { call = null, asTurn: turn = false, variables, redefine } = request;
  const { sources: libraries, constants } = root.definitions;
  const sources = [...libraries, ...(request.sources ?? [])];
  // Sending a hundred names takes about a twentieth of the time of a small turn, and most programs call no tool.
  const pure = sources.some(mayCall) ? tools.pureNames(guards) : [];
  const parts = {
    globals: globalsOf(context, request),
    events: (request.events ?? []).map((event, index) => eventOf(context, event, index)),
  };
  return {
    sources,
    ...parts,
    ...(pure.length === 0 ? {} : { pure }),
    ...(constants.size === 0 ? {} : { constants: Object.fromEntries(constants) }),
    call: call && {
      ...call,
      args: call.args.map((arg, index) => checkTagged(`argument ${index + 1} of ${call.name}`, arg)),
    },
    variables: variables?.map(({ name, value }) => ({ name, value: checkTagged(`variable ${checkGlobalName(name)}`, value) })),
    ...(redefine === true ? { redefine: true } : {}),
    limits: limitsOf(context, request),
    forkId,
    turn,
    stdin: root.host.stdin !== null && !turn,
    ...defined({
      flow: flowInput(flowOf(guards), { read: [...said], userdata: [], ...defined(request.origins ?? {}), ...parts }),
    }),
  };
}

/** Whether a source may call a tool. */
export function mayCall(source: Source): boolean {
  const found = searched.get(source) ?? MAY_CALL.test(source.text);
  if (Object.isFrozen(source)) searched.set(source, found);
  return found;
}

function globalsOf(context: RunContext, request: RunRequest): Readonly<Record<string, TaggedJson>> {
  const globals = new Map(context.globals);
  for (const [name, value] of Object.entries(request.globals ?? {})) {
    if (context.root.definitions.constants.has(name)) throw new ConfigError(`there is a global constant '${name}'`);
    globals.set(checkGlobalName(name), checkTagged(`global ${name}`, value));
  }
  // The object has the usual prototype, because without one `JSON.stringify` takes its slow path for the whole frame.
  return Object.fromEntries(globals);
}

/** An event with the `ID` and `TS` for its handlers. If the request has none, the fork numbers the event and the turn gives its time. */
function eventOf({ forkId, turn }: RunContext, event: EventInput, index: number): EventInput {
  const payload = checkTagged(`payload of event ${event.name}`, event.payload);
  return { ...event, payload, id: event.id ?? `${forkId}.event.${index + 1}`, ts: event.ts ?? turn.now() * 1e6 };
}

/** The limits of the fork, tightened by those of the request and by the deadline of the turn. */
function limitsOf({ runtime, turn, limits }: RunContext, request: RunRequest): LimitValues {
  const asked = request.limits === undefined ? limits : tighten(limits, checkLimits(request.limits));
  const tightened =
    turn.tenant === null || request.asTurn === true ? asked : tighten(asked, limitsLeft(runtime.tenants.report(turn.tenant)));
  if (turn.deadline === null) return tightened;
  const leftMs = Math.max(1, Math.ceil(turn.deadline - runtime.now()));
  return { ...tightened, wallMs: Math.min(tightened.wallMs, leftMs) };
}
