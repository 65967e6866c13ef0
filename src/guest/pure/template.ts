import { shortQuote, TextBuilder, toText, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Dict } from '../values.ts';
import { piece, scan } from './charges.ts';
import type { Group } from './define.ts';
import { follow, parsePath } from './path.ts';

/** Texts with places to fill in. */
export const TEMPLATE: Group<'template'> = {
  'tool.template.Render': render,
};

/**
 * Fills `{{path}}` from a map. What is filled in is never looked at again, so data cannot bring places of its own. A place that
 * the map does not have is code 9, or `missing` where that is given; `{{{{` stands for `{{`.
 */
function render(machine: Meter, template: string, values: Dict, missing: string | null): string {
  scan(machine, template.length);
  const made = new TextBuilder(machine, WORK.concat, 'text');
  let start = 0;
  for (let open = template.indexOf('{{'); open >= 0; open = template.indexOf('{{', start)) {
    if (open > start) made.add(piece(template, start, open));
    if (template.startsWith('{{', open + 2)) {
      made.add('{{');
      start = open + 4;
      continue;
    }
    const close = template.indexOf('}}', open + 2);
    if (close < 0)
      return machine.fail('Syntax', `the '{{' at unit ${open} is never closed`, "write '{{{{' for two braces as they are");
    made.add(filled(machine, template.slice(open + 2, close).trim(), values, missing));
    start = close + 2;
  }
  if (start < template.length) made.add(piece(template, start, template.length));
  return made.finish();
}

function filled(machine: Meter, path: string, values: Dict, missing: string | null): string {
  machine.pay(WORK.visit);
  const steps = parsePath(machine, path);
  if (steps === undefined)
    return machine.fail('Syntax', `{{${shortQuote(path)}}} is no path`, 'write {{name}}, {{a.b}} or {{list[0]}}');
  const found = follow(machine, values, steps);
  if ('value' in found) return toText(machine, found.value);
  return (
    missing ??
    machine.fail(
      'KeyNotFound',
      `nothing to fill in for {{${path}}}: ${found.problem}`,
      'give a third argument for what is missing',
    )
  );
}
