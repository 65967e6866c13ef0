/** Expressions as canonical text. */
import type { AccessStep, Expr } from './ast.ts';

/** The text of one expression. */
export function printExpression(node: Expr): string {
  switch (node.k) {
    case 'num':
      return String(node.v);
    case 'str':
      return quoted(node.v);
    case 'bool':
      return String(node.v);
    case 'nil':
    case 'last':
      return node.k;
    case 'name':
      return node.name;
    case 'list':
      return `[${list(node.items)}]`;
    case 'map':
      // The blanks keep a map that begins or ends with a brace from reading as `{{` or `}}`.
      return `{${node.entries.map(([key, value]) => ` ${printExpression(key)}: ${printExpression(value)}`).join(',')} }`;
    case 'template':
      return `\`\`\`${node.parts.map((part, index) => templatePart(part, index === node.parts.length - 1)).join('')}\`\`\``;
    case 'text':
      return `{{ ${printExpression(node.of)} }}`;
    case 'eval':
      return `eval(${printExpression(node.of)})`;
    case 'group':
      return `(${printExpression(node.of)})`;
    case 'unary':
      return node.op === '-' || node.op === '~'
        ? node.op + apart(printExpression(node.of))
        : `${node.op} ${printExpression(node.of)}`;
    case 'power':
      return `${printExpression(node.base)} ** ${printExpression(node.exponent)}`;
    case 'binary':
      return [printExpression(node.first), ...node.rest.map(({ op, right }) => `${op} ${printExpression(right)}`)].join(' ');
    case 'access':
      return printExpression(node.base) + printSteps(node.steps);
    case 'call':
      return `${node.name.name}(${list(node.args)})`;
    case 'tool':
      return `${node.written}(${list(node.args)})`;
  }
}

/** Two minus signs together would begin a comment. */
function apart(operand: string): string {
  return operand.startsWith('-') ? ` ${operand}` : operand;
}

function list(items: readonly Expr[]): string {
  return items.map(printExpression).join(', ');
}

/** The text of an accessor chain. */
export function printSteps(steps: readonly AccessStep[]): string {
  return steps.map((step) => (step.k === 'field' ? `.${step.name}` : `[${printExpression(step.index)}]`)).join('');
}

const named: ReadonlyMap<string, string> = new Map([
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\n', '\\n'],
  ['\r', '\\r'],
  ['\t', '\\t'],
  ['\b', '\\b'],
  ['\f', '\\f'],
  ['\v', '\\v'],
]);
const unsafe = /["\\\0-\x1f\x7f-\x9f\u200B-\u200D\u2060\u202A-\u202E\uFFFD]/g;

/** A double-quoted literal; what a source may not contain, or would not show, is escaped. */
export function quoted(value: string): string {
  return `"${value.replace(unsafe, (unit) => named.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)}"`;
}

/** Characters that cannot stand in a template as they are, and symbols that stand for themselves. */
const special =
  /\{\{@(?!(?:nl|cr|tab|bt|tbt|sq|dq|tsq|tdq)\s*\}\})[^{}`]*\}\}|`|\r|\{|[\0-\x08\x0B-\x1F\u200B-\u200D\u2060\u202A-\u202E\uFFFD]/g;

function templatePart(part: string | Expr, isLast: boolean): string {
  if (typeof part !== 'string') return `{{ ${printExpression(part)} }}`;
  // What follows a `{{` that is never closed is text to the end, backticks and all.
  const open = isLast ? part.lastIndexOf('{{') : -1;
  const tail = open >= 0 && !part.includes('}}', open) && !part.includes('```', open) ? part.slice(open) : '';
  const text = part.slice(0, part.length - tail.length);
  const printed = text.replace(special, (found, offset: number) => {
    if (found.length > 1) return found;
    if (found === '`') return '{{@bt}}';
    if (found === '\r') return '{{@cr}}';
    const next = text.charAt(offset + 1);
    const harmless = found === '{' && next !== '{' && next !== '';
    return harmless ? found : `{{ ${quoted(found)} }}`;
  });
  return printed + tail;
}
