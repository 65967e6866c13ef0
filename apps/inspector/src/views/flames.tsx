import flamegraph, { type FlameData, type FlameGraph, type PlacedNode } from 'd3-flame-graph';
import { select } from 'd3-selection';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { TurnView } from '../../../../src/ui/views.ts';
import type { Heat, HeatFrame } from '../../../../src/wire/heat.ts';
import { printable } from '../../../../src/wire/text/printable.ts';
import { counted, grouped, percent } from '../format.ts';
import { Section } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { Foreign } from '../parts/text.tsx';
import { HeatNotes, type Quantity, QuantityChoice, spentText, useHeat } from './heat.tsx';
import { Waterfall } from './waterfall.tsx';

/** What a flame graph is drawn by. */
type Measured = Exclude<Quantity, 'recorded'>;

/** A path of calls as the graph draws it. */
interface Node extends FlameData {
  readonly name: string;
  value: number;
  readonly own: number;
  readonly count: number;
  readonly kind: HeatFrame['kind'] | 'turn';
  readonly children: Node[];
}

/** The paths of calls of a turn as a flame graph and, for readers of tables, the procedures. */
export function Flames({ turn }: { readonly turn: TurnView }) {
  const [quantity, setQuantity] = useState<Quantity>('recorded');
  const { value: measured, problem } = useHeat(turn, quantity);
  const heat = measured?.heat ?? null;
  return (
    <>
      {turn.record.notExecutable === null && (
        <div class="toolbar">
          <QuantityChoice value={quantity} choose={setQuantity} />
        </div>
      )}
      <HeatNotes heat={measured} problem={problem} quantity={quantity} turn={turn} />
      {quantity === 'recorded' && <Waterfall turn={turn} calls={turn.journal} />}
      {quantity !== 'recorded' && heat !== null && (
        <>
          <Graph heat={heat} quantity={quantity} />
          <Section id="procedures" title="Procedures">
            <Procedures heat={heat} quantity={quantity} />
          </Section>
        </>
      )}
    </>
  );
}

function treeOf({ flame }: Heat, quantity: Measured): Node {
  const root: Node = { name: 'turn', value: 0, own: 0, count: 1, kind: 'turn', children: [] };
  const nodes: Node[] = [];
  for (const { frame, parent, count, ...spent } of flame.nodes) {
    const { kind, name, line } = flame.frames[frame] ?? { kind: 'statement', name: '?', line: 0 };
    const own = spent[quantity];
    const node: Node = { name: printable(line === null ? name : `${name} :${line}`), value: own, own, count, kind, children: [] };
    nodes.push(node);
    (parent === null ? root : (nodes[parent] ?? root)).children.push(node);
  }
  // A node stands behind the one around it.
  for (const [index, { parent }] of [...flame.nodes.entries()].reverse()) {
    const around = parent === null ? root : (nodes[parent] ?? root);
    around.value += nodes[index]?.value ?? 0;
  }
  return root;
}

const COLOURS: Readonly<Record<Node['kind'], string>> = {
  turn: '#d5dae0',
  commands: '#f6c667',
  procedure: '#f4a259',
  event: '#f2b5a7',
  statement: '#f9e2ae',
  handler: '#f28f79',
  tool: '#8ec5e8',
  prompt: '#a9d6c5',
  ask: '#b9a7e0',
  together: '#9fd0d9',
  host: '#c9ced6',
};

function Graph({ heat, quantity }: { readonly heat: Heat; readonly quantity: Measured }) {
  const place = useRef<HTMLDivElement>(null);
  const [told, setTold] = useState('');
  useEffect(() => {
    const { current } = place;
    if (current === null) return;
    const tree = treeOf(heat, quantity);
    const words = ({ data }: PlacedNode<Node>) =>
      `${data.name}: ${spentText(quantity, data.value)} (${percent(data.value, tree.value)}), own ${spentText(quantity, data.own)}, ${counted(data.count, 'time')}`;
    const graph: FlameGraph<Node> = flamegraph<Node>()
      .width(Math.max(300, current.clientWidth))
      .cellHeight(22)
      .inverted(true)
      .minFrameSize(2)
      .transitionDuration(0)
      .label(words)
      .color(({ data }) => COLOURS[data.kind])
      .onClick((node) => setTold(words(node)));
    select(current).datum(tree).call(graph);
    const release = listen(current, graph, words, setTold);
    return () => {
      release();
      graph.destroy();
    };
  }, [heat, quantity]);
  return (
    <>
      <p class="faint">
        The width of a bar is its cost. Move with the arrow keys, enlarge with Enter, show everything with Escape.
        <span class="hidden"> The table below has the same by procedure.</span>
      </p>
      <div class="flames" ref={place} />
      <p role="status" class="told">
        {told}
      </p>
    </>
  );
}

/** Makes the frames of a graph reachable by the keyboard; the graph itself knows the mouse alone. */
function listen(
  place: HTMLElement,
  graph: FlameGraph<Node>,
  words: (node: PlacedNode<Node>) => string,
  tell: (text: string) => void,
): () => void {
  const frames = () => select(place).selectAll<SVGGElement, PlacedNode<Node>>('g.frame');
  let current: Node | null = null;
  const mark = () => {
    select(place).select('svg').attr('role', 'group').attr('aria-label', 'Flame graph');
    frames()
      .attr('role', 'button')
      .attr('aria-label', words)
      .attr('tabindex', ({ data, depth }) => ((current === null ? depth === 0 : data === current) ? 0 : -1));
  };
  const go = (node: PlacedNode<Node> | undefined | null) => {
    if (!node) return;
    current = node.data;
    mark();
    frames()
      .filter(({ data }) => data === current)
      .node()
      ?.focus();
    tell(words(node));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      graph.resetZoom();
      mark();
      return;
    }
    if (!(event.target instanceof SVGGElement)) return;
    const node = select<SVGGElement, PlacedNode<Node>>(event.target).datum();
    const beside = node.parent?.children ?? [node];
    const at = beside.indexOf(node);
    const moves: Readonly<Record<string, PlacedNode<Node> | null | undefined>> = {
      ArrowUp: node.parent,
      ArrowDown: node.children?.toSorted((a, b) => b.value - a.value)[0],
      ArrowLeft: beside[at - 1],
      ArrowRight: beside[at + 1],
    };
    if (Object.hasOwn(moves, event.key)) {
      event.preventDefault();
      go(moves[event.key]);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.target.dispatchEvent(new MouseEvent('click', { bubbles: true }));
      go(node);
    }
  };
  mark();
  place.addEventListener('keydown', onKeyDown);
  place.addEventListener('click', mark);
  return () => {
    place.removeEventListener('keydown', onKeyDown);
    place.removeEventListener('click', mark);
  };
}

function Procedures({ heat, quantity }: { readonly heat: Heat; readonly quantity: Measured }) {
  const rows = heat.procedures.toSorted((a, b) => b.total[quantity] - a.total[quantity]).slice(0, 100);
  return (
    <Scroll label="Procedures">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">name</th>
            <th scope="col">place</th>
            <th scope="col" class="number">
              calls
            </th>
            <th scope="col" class="number">
              own
            </th>
            <th scope="col" class="number">
              with what it calls
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={`${row.source}:${row.line}:${row.name}`}>
              <th scope="row">
                <Foreign text={row.name} />
              </th>
              <td>
                <Foreign text={row.source} />:{row.line}
              </td>
              <td class="number">{grouped(row.calls)}</td>
              <td class="number">{spentText(quantity, row[quantity])}</td>
              <td class="number">
                {spentText(quantity, row.total[quantity])}{' '}
                <span class="faint">{percent(row.total[quantity], heat[quantity])}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
