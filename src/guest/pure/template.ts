import { shortQuote, TextBuilder, toText, WORK } from '../kit.ts';
import type { Meter } from '../meter.ts';
import type { Dict } from '../values.ts';
import type { Group } from './define.ts';
import { follow, parsePath } from './path.ts';

export const TEMPLATE: Group<'template'> = {
  'tool.template.Render': render,
};

/**
 * Fills in every `{{path}}` from a map. Inserted text is not filled in again, so data cannot add paths. A path without a value
 * fails with code 9, unless `missing` is given. `{{{{` stands for `{{`.
 */
function render(meter: Meter, template: string, values: Dict, missing: string | null): string {
  meter.pay(WORK.scan, template.length);
  const made = new TextBuilder(meter, WORK.concat, 'text');
  let start = 0;
  for (let open = template.indexOf('{{'); open >= 0; open = template.indexOf('{{', start)) {
    made.addSlice(template, start, open);
    if (template.startsWith('{{', open + 2)) {
      made.add('{{');
      start = open + 4;
      continue;
    }
    const close = template.indexOf('}}', open + 2);
    if (close < 0)
      return meter.fail('Syntax', `the '{{' at unit ${open} is never closed`, "write '{{{{' for two braces as they are");
    made.add(filled(meter, template.slice(open + 2, close).trim(), values, missing));
    start = close + 2;
  }
  made.addSlice(template, start, template.length);
  return made.finish();
}

function filled(meter: Meter, path: string, values: Dict, missing: string | null): string {
  meter.pay(WORK.visit);
  meter.pay(WORK.templateField);
  const steps = parsePath(meter, path);
  if (steps === undefined)
    return meter.fail('Syntax', `{{${shortQuote(path)}}} is not a path`, 'write {{name}}, {{a.b}} or {{list[0]}}');
  const found = follow(meter, values, steps);
  if ('value' in found) return toText(meter, found.value);
  return (
    missing ??
    meter.fail('KeyNotFound', `nothing to fill in for {{${path}}}: ${found.problem}`, 'give a third argument for what is missing')
  );
}
