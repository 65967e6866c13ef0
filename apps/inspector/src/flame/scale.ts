/*
 * In place of `d3-scale`, of which d3-flame-graph takes one linear scale from the range 0 to 1, and which brings colours and formats that
 * nothing uses.
 */

/** A scale from 0 to 1 to another range. */
export function scaleLinear() {
  let [from, to] = [0, 1];
  const scale = (value: number): number => from + (to - from) * value;
  scale.range = ([first, last]: readonly [number, number]) => {
    [from, to] = [first, last];
    return scale;
  };
  return scale;
}
