/** Prints expressions as canonical source text. */
import type { AccessStep, Expr } from '../../grammar/syntax/astexpressions.ts';

export function printExpression(node: Expr): string {
  return write(node, '}}');
}

/** `close` ends a placeholder. In a part of a template its braces stand apart, because `}}` would end the part. */
function write(node: Expr, close: '}}' | '} }'): string {
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
      return `[${list(node.items, close)}]`;
    case 'map':
      // The blanks keep the braces of a nested map from reading as `{{` or `}}`.
      return `{${node.entries.map(([key, value]) => ` ${write(key, close)}: ${write(value, close)}`).join(',')} }`;
    case 'template':
      return `\`\`\`${node.parts.map((part, index) => templatePart(part, index === node.parts.length - 1)).join('')}\`\`\``;
    case 'text':
      return `{{ ${write(node.of, close)} ${close}`;
    case 'eval':
      return `eval(${write(node.of, close)})`;
    case 'group':
      return `(${write(node.of, close)})`;
    case 'unary':
      return node.op === '-' || node.op === '~' ? node.op + apart(write(node.of, close)) : `${node.op} ${write(node.of, close)}`;
    case 'power':
      return `${write(node.base, close)} ** ${write(node.exponent, close)}`;
    case 'binary':
      return [write(node.first, close), ...node.rest.map(({ op, right }) => `${op} ${write(right, close)}`)].join(' ');
    case 'access':
      return write(node.base, close) + stepTexts(node.steps, close);
    case 'call':
      return `${node.name.name}(${list(node.args, close)})`;
    case 'tool':
      return `${node.written}(${list(node.args, close)})`;
  }
}

/** A blank before a second minus sign: `--` would begin a comment. */
function apart(operand: string): string {
  return operand.startsWith('-') ? ` ${operand}` : operand;
}

function list(items: readonly Expr[], close: '}}' | '} }'): string {
  return items.map((item) => write(item, close)).join(', ');
}

export function printSteps(steps: readonly AccessStep[]): string {
  return stepTexts(steps, '}}');
}

function stepTexts(steps: readonly AccessStep[], close: '}}' | '} }'): string {
  return steps.map((step) => (step.k === 'field' ? `.${step.name}` : `[${write(step.index, close)}]`)).join('');
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

/**
 * A double-quoted literal. It escapes characters that a source may not contain or does not show, and three backticks, which
 * would end a template around the literal.
 */
export function quoted(value: string): string {
  const text = value.replace(unsafe, (unit) => named.get(unit) ?? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
  return `"${text.replaceAll('```', '\\`\\`\\`')}"`;
}

/** Characters that a template cannot contain as they are, and unknown symbols, which stand for themselves. */
const special =
  /\{\{@(?!(?:nl|cr|tab|bt|tbt|sq|dq|tsq|tdq)\s*\}\})[^{}`]*\}\}|`|\r|\{|[\0-\x08\x0B-\x1F\u200B-\u200D\u2060\u202A-\u202E\uFFFD]/g;

function templatePart(part: string | Expr, isLast: boolean): string {
  if (typeof part !== 'string') return `{{ ${write(part, '} }')} }}`;
  // After a `{{` that is never closed, everything to the end is text.
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
