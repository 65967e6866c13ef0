import type { CallView, TurnView } from '../../../../src/ui/views.ts';
import { duration } from '../format.ts';
import { Foreign } from '../parts/text.tsx';
import { turnLink } from '../route.ts';
import { PHASES } from './timeline.tsx';

interface SpanProps {
  readonly begin: number;
  readonly ms: number;
  readonly kind: string;
  readonly total: number;
}

/** Per cent of the axis that the shortest bar takes, to be seen. */
const LEAST = 0.4;

/** A bar on an axis of `total` milliseconds. */
function Lane({ begin, ms, kind, total }: SpanProps) {
  const words = `begins after ${duration(begin)}, takes ${duration(ms)}`;
  return (
    <span class="lane" role="img" aria-label={words} title={words}>
      {ms > 0 && (
        <span
          class={`span in-${kind}`}
          style={{ left: `${Math.min(100 - LEAST, (begin / total) * 100)}%`, width: `${Math.max(LEAST, (ms / total) * 100)}%` }}
        />
      )}
    </span>
  );
}

/** The bar of a call on an axis of `total` milliseconds. */
export function CallLane({ call: { begin, ms, kind, failed }, total }: { readonly call: CallView; readonly total: number }) {
  return <Lane begin={begin} ms={ms} kind={failed === null ? kind : 'failed'} total={total} />;
}

/** The recorded phases of a turn and its calls on one axis of time. */
export function Waterfall({ turn, calls }: { readonly turn: TurnView; readonly calls: readonly CallView[] }) {
  const total = Math.max(1e-3, turn.latencyMs, ...calls.map(({ begin, ms }) => begin + ms));
  return (
    <ol class="waterfall">
      {turn.phases.map(({ name, begin, ms }) => (
        <li key={name}>
          <span class="name faint">{PHASES[name]}</span>
          <Lane begin={begin} ms={ms} kind={name} total={total} />
          <span class="number faint">{duration(ms)}</span>
        </li>
      ))}
      {calls.map((call) => (
        <li key={call.seq}>
          <a class="name" href={turnLink(turn.sid, turn.turn, 'calls', String(call.seq))}>
            <Foreign text={call.name} most={60} />
          </a>
          <CallLane call={call} total={total} />
          <span class="number faint">{duration(call.ms)}</span>
        </li>
      ))}
    </ol>
  );
}
