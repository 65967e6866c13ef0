declare module 'd3-flame-graph' {
  import type { Selection } from 'd3-selection';

  /** A node of the tree that is drawn. The graph numbers the nodes and keeps its state in them. */
  export interface FlameData {
    readonly name: string;
    readonly value: number;
    readonly children: readonly FlameData[];
  }

  /** A node in its place. */
  export interface PlacedNode<Data extends FlameData> {
    readonly data: Data;
    readonly value: number;
    readonly depth: number;
    readonly parent: PlacedNode<Data> | null;
    readonly children?: readonly PlacedNode<Data>[];
  }

  export interface FlameGraph<Data extends FlameData> {
    (selection: Selection<HTMLDivElement, Data, null, undefined>): void;
    width(pixels: number): this;
    cellHeight(pixels: number): this;
    inverted(value: boolean): this;
    sort(value: boolean): this;
    minFrameSize(pixels: number): this;
    transitionDuration(ms: number): this;
    label(text: (node: PlacedNode<Data>) => string): this;
    color(fill: (node: PlacedNode<Data>, usual: string) => string): this;
    onClick(handler: (node: PlacedNode<Data>) => void): this;
    resetZoom(): void;
    destroy(): void;
  }

  export default function flamegraph<Data extends FlameData>(): FlameGraph<Data>;
}
