/*
 * In place of `d3-transition`, which d3-flame-graph imports: the graph of the inspector does not move, and the code that moves it is
 * larger than the graph. A selection is its own transition, which ends at once.
 */
import { selection } from 'd3-selection';

Object.assign(selection.prototype, {
  transition(this: unknown) {
    return this;
  },
  duration(this: unknown) {
    return this;
  },
  delay(this: unknown) {
    return this;
  },
  ease(this: unknown) {
    return this;
  },
});
