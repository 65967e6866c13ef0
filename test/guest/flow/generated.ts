import { type Program, program } from '../../../conformance/language/generate/programs.ts';
import { exposed } from './interference.ts';

/** The program of an index. In every other one, values come from the source and go to the sink. */
export function generated(seed: number, index: number): Program {
  const own = Math.imul(seed, 0x9e3779b1) + index;
  const made = program(own, { tools: true, asks: false, rich: true, small: index % 3 !== 0, edges: index % 4 === 1 });
  return index % 2 === 0 ? made : exposed(made, own);
}
