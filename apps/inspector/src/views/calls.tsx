import { useEffect, useRef, useState } from 'preact/hooks';
import type { CallsView, CallView, TurnView } from '../../../../src/ui/views.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { messageOf, useWorld } from '../data/use.ts';
import { counted, duration, grouped, usdText } from '../format.ts';
import { Facts, Section } from '../parts/marks.tsx';
import { Rows } from '../parts/rows.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign, ShowMore, Value } from '../parts/text.tsx';
import { sessionLink, turnLink } from '../route.ts';
import { Denial, Verdict } from './verdict.tsx';
import { CallLane, Waterfall } from './waterfall.tsx';

/** Calls up to which all of them stand on the page with their arguments and results. */
const FEW = 50;

/** The calls that the server has, the later ones as the reader asks for them. */
function useCalls(turn: TurnView): {
  readonly calls: readonly CallView[];
  readonly more: boolean;
  readonly problem: string | null;
  readonly extend: () => Promise<void>;
} {
  const { source } = useWorld();
  const [rest, setRest] = useState<CallsView>({ calls: [], more: turn.more });
  const [problem, setProblem] = useState<string | null>(null);
  const asking = useRef(false);
  const calls = [...turn.journal, ...rest.calls];
  const extend = async () => {
    if (asking.current) return;
    asking.current = true;
    try {
      const next = await source.calls(turn.sid, turn.turn, calls.at(-1)?.seq ?? 0);
      setRest({ calls: [...rest.calls, ...next.calls], more: next.more });
    } catch (error) {
      setProblem(messageOf(error));
    }
    asking.current = false;
  };
  return { calls, more: rest.more, problem, extend };
}

/** The calls of a turn: a waterfall, and each call with its arguments, its result and the verdict of the policy. */
export function Calls({ turn, at }: { readonly turn: TurnView; readonly at: string | null }) {
  const all = useCalls(turn);
  const { calls, more, problem, extend } = all;
  useEffect(() => {
    if (at !== null) document.getElementById(`call-${at}`)?.focus();
  }, [at]);
  if (calls.length === 0) {
    return <p class="none">The program called nothing.{turn.failure !== null && ' The overview says why it failed.'}</p>;
  }
  if (turn.calls > FEW) return <ManyCalls turn={turn} at={at} all={all} />;
  return (
    <>
      <Section id="waterfall" title="Waterfall">
        <Waterfall turn={turn} calls={calls} />
      </Section>
      <Section id="calls" title={counted(turn.calls, 'call')}>
        {calls.map((call) => (
          <Call key={call.seq} call={call} turn={turn} open={calls.length <= 10 || String(call.seq) === at} />
        ))}
        {more && <ShowMore shown={calls.length} of={turn.calls} things="calls" problem={problem} extend={extend} />}
      </Section>
    </>
  );
}

const ORDERS = { order: 'in their order', slowest: 'the slowest first', tool: 'grouped by tool' } as const;
type Order = keyof typeof ORDERS;

interface ManyCallsProps {
  readonly turn: TurnView;
  readonly at: string | null;
  readonly all: ReturnType<typeof useCalls>;
}

/** Many calls as a list of which only the rows in sight are in the page. The call of the address stands above it. */
function ManyCalls({ turn, at, all: { calls, more, problem, extend } }: ManyCallsProps) {
  const [words, setWords] = useState('');
  const [onlyFailed, setOnlyFailed] = useState(false);
  const [order, setOrder] = useState<Order>('order');
  // The order and the filter are those of all calls, so the rest comes by itself.
  useEffect(() => {
    if (more && problem === null) void extend();
  });
  const total = Math.max(1, ...calls.map(({ begin, ms }) => begin + ms));
  const wanted = words.toLowerCase();
  const has = ({ name, args, failed }: CallView): boolean =>
    [name, failed?.message ?? '', ...args.map(({ text }) => text)].some((text) => text.toLowerCase().includes(wanted));
  const found = calls.filter((call) => (!onlyFailed || call.failed !== null) && (wanted === '' || has(call)));
  const shown =
    order === 'order'
      ? found
      : found.toSorted((a, b) => (order === 'slowest' ? b.ms - a.ms : a.name.localeCompare(b.name, 'en') || a.seq - b.seq));
  const chosen = at === null ? undefined : calls.find(({ seq }) => String(seq) === at);
  return (
    <Section id="calls" title={counted(turn.calls, 'call')}>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label class="wide">
          Find{' '}
          <input
            type="search"
            value={words}
            placeholder="tool, argument or message"
            onInput={({ currentTarget }) => setWords(currentTarget.value)}
          />
        </label>
        <label>
          <input type="checkbox" checked={onlyFailed} onChange={({ currentTarget }) => setOnlyFailed(currentTarget.checked)} />{' '}
          failed only
        </label>
        <label>
          Show{' '}
          <select
            value={order}
            onChange={({ currentTarget: { value } }) => setOrder(value === 'slowest' || value === 'tool' ? value : 'order')}
          >
            {Object.entries(ORDERS).map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <span class="faint" role="status">
          {shown.length === turn.calls ? '' : `${grouped(shown.length)} of ${grouped(turn.calls)}`}
        </span>
      </form>
      {problem !== null && (
        <p class="problem">
          <Foreign text={problem} />
        </p>
      )}
      {chosen !== undefined && <Call call={chosen} turn={turn} open />}
      {order === 'tool' && <Groups calls={found} choose={setWords} />}
      <Rows
        label="Calls"
        count={shown.length}
        height={[32, 40]}
        href={(index) => turnLink(turn.sid, turn.turn, 'calls', String(shown[index]?.seq ?? ''))}
        row={(index) => {
          const call = shown[index];
          return call === undefined ? null : <CallRow call={call} total={total} />;
        }}
      />
    </Section>
  );
}

/** Most tools whose calls are summed up. */
const GROUPS = 20;

/** The calls of each tool together: how many, how long, and how many failed. The one that took longest comes first. */
function Groups({ calls, choose }: { readonly calls: readonly CallView[]; readonly choose: (name: string) => void }) {
  const groups = [...Map.groupBy(calls, ({ name }) => name)].map(([name, own]) => ({
    name,
    count: own.length,
    failed: own.filter(({ failed }) => failed !== null).length,
    ms: own.reduce((sum, { ms }) => sum + ms, 0),
    slowest: Math.max(...own.map(({ ms }) => ms)),
  }));
  const shown = groups.toSorted((a, b) => b.ms - a.ms).slice(0, GROUPS);
  return (
    <Scroll label="Calls of each tool">
      <table class="plain">
        <thead>
          <tr>
            {['tool', 'calls', 'failed', 'together', 'slowest'].map((title) => (
              <th key={title} scope="col" class={title === 'tool' ? undefined : 'number'}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ name, count, failed, ms, slowest }) => (
            <tr key={name}>
              <th scope="row">
                <button type="button" class="link" title="show only these" onClick={() => choose(name)}>
                  <Foreign text={name} most={60} />
                </button>
              </th>
              <td class="number">{grouped(count)}</td>
              <td class="number">{failed === 0 ? '–' : grouped(failed)}</td>
              <td class="number">{duration(ms)}</td>
              <td class="number">{duration(slowest)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {groups.length > GROUPS && <p class="faint">and {counted(groups.length - GROUPS, 'more tool')}</p>}
    </Scroll>
  );
}

function CallRow({ call, total }: { readonly call: CallView; readonly total: number }) {
  return (
    <span class="in-calls">
      <span class="number faint">
        <Foreign text={call.call} />
      </span>
      <span class={call.failed === null ? '' : 'problem'}>
        <Foreign text={call.name} most={60} />
        <span class="faint">
          (<Foreign text={call.args.map(({ text }) => text).join(', ')} most={120} />)
        </span>
      </span>
      <CallLane call={call} total={total} />
      <span class="number faint">{duration(call.ms)}</span>
    </span>
  );
}

function Call({ call, turn, open }: { readonly call: CallView; readonly turn: TurnView; readonly open: boolean }) {
  const { sid, turn: number } = turn;
  const of = { sid, turn: number };
  const { verdict, failed, result, at } = call;
  return (
    <details class={`card call${failed === null ? '' : ' is-failed'}`} open={open}>
      <summary id={`call-${call.seq}`}>
        <span class="number faint">
          <Foreign text={call.call} />
        </span>{' '}
        <strong>
          <Foreign text={call.name} most={120} />
        </strong>{' '}
        {failed !== null && <span class="badge is-halt">{verdict !== null && !verdict.allowed ? '✕ denied' : '✕ failed'}</span>}{' '}
        <span class="faint">
          {call.kind === 'tool' ? '' : `${call.kind}, `}line {at.line}, {duration(call.ms)}
          {call.cost > 0 && `, ${usdText(call.cost)}`}
        </span>
      </summary>
      <Facts
        facts={[
          ...call.args.map(
            (arg, index) =>
              [
                `argument ${index + 1}`,
                <Value view={arg} label={`argument ${index + 1} of call ${call.call}`} of={of} />,
              ] as const,
          ),
          ['result', result === null ? null : <Value view={result} label={`result of call ${call.call}`} of={of} />],
          ['failed', failed === null || verdict?.allowed === false ? null : <Denial call={call} of={of} />],
          ['hint', failed === null || failed.hint === null ? null : <Foreign text={failed.hint} />],
          ['policy', verdict === null ? null : <Verdict verdict={verdict} of={of} />],
          ['place', <a href={turnLink(sid, number, 'program', String(at.line))}>{`line ${at.line}, column ${at.column}`}</a>],
          ['fork', <Foreign text={at.fork} />],
          ['together with', at.together === undefined || at.together === call.seq ? null : `call ${number}.${at.together}`],
          [
            'nested session',
            call.nested === null ? null : (
              <a href={sessionLink(call.nested)} title={printable(call.nested)}>
                ask {call.call}
              </a>
            ),
          ],
          ['remark', call.repeated ? 'may have had its effect twice: the turn was interrupted and ran again' : null],
        ]}
      />
    </details>
  );
}
