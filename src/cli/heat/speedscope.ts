import { VERSION } from '../../runtime/version.ts';
import type { Flame, RunProfile, Trace } from '../../wire/heat.ts';
import { labelOf } from './flame.ts';

/**
 * A file of speedscope, piece by piece: the fuel of all paths of calls, which is exact, and the trace in the order of time.
 */
export function* speedscopeFile({ heat, trace }: RunProfile, name: string): Generator<string> {
  // The flame graph and the trace have the same frames.
  const { frames } = heat.flame;
  yield '{"$schema":"https://www.speedscope.app/file-format-schema.json",';
  yield `"exporter":${JSON.stringify(`neuroscript ${VERSION}`)},"name":${JSON.stringify(name)},"activeProfileIndex":0,`;
  yield '"shared":{"frames":[';
  for (const [index, frame] of frames.entries()) {
    const place = frame.source === null ? {} : { file: frame.source, line: frame.line };
    yield `${index === 0 ? '\n' : ',\n'}${JSON.stringify({ name: labelOf(frame), ...place })}`;
  }
  yield '\n]},"profiles":[\n';
  yield* evented('fuel of all paths', 'none', eventsOfFlame(heat.flame));
  if (trace !== null) {
    yield ',\n';
    yield* evented('order of time', 'microseconds', eventsOfTrace(trace));
  }
  yield '\n]}\n';
}

interface Event {
  readonly type: 'O' | 'C';
  readonly frame: number;
  readonly at: number;
}

function* evented(name: string, unit: 'none' | 'microseconds', events: Iterable<Event>): Generator<string> {
  yield `{"type":"evented","name":${JSON.stringify(name)},"unit":"${unit}","startValue":0,"events":[`;
  let end = 0;
  let separator = '\n';
  for (const event of events) {
    yield `${separator}${JSON.stringify(event)}`;
    separator = ',\n';
    end = event.at;
  }
  yield `\n],"endValue":${end}}`;
}

/** Every node once, as long as its fuel and that of the nodes below it: its own comes first. */
function* eventsOfFlame({ nodes }: Flame): Generator<Event> {
  const below: number[][] = nodes.map(() => []);
  for (const [index, { parent }] of nodes.entries()) if (parent !== null) below[parent]?.push(index);
  const open: { readonly frame: number; readonly below: readonly number[]; next: number }[] = [];
  let at = 0;
  const enter = function* (index: number): Generator<Event> {
    const { frame, fuel } = nodes[index] ?? { frame: 0, fuel: 0 };
    yield { type: 'O', frame, at };
    at += fuel;
    open.push({ frame, below: below[index] ?? [], next: 0 });
  };
  if (nodes.length > 0) yield* enter(0);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const child = top.below[top.next++];
    if (child !== undefined) yield* enter(child);
    else {
      open.pop();
      yield { type: 'C', frame: top.frame, at };
    }
  }
}

function* eventsOfTrace({ marks, us }: Trace): Generator<Event> {
  const open: number[] = [];
  let at = 0;
  for (const [index, mark] of marks.entries()) {
    at = us[index] ?? at;
    if (mark >= 0) open.push(mark);
    const frame = mark >= 0 ? mark : open.pop();
    if (frame !== undefined) yield { type: mark >= 0 ? 'O' : 'C', frame, at };
  }
  for (let frame = open.pop(); frame !== undefined; frame = open.pop()) yield { type: 'C', frame, at };
}
