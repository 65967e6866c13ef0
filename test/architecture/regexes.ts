import { productFiles } from './imports.ts';
import { lineOf, walk } from './source.ts';

/** Where regular expressions of the product stand, by their text; a call of `RegExp` has its source text. */
export function regexes(): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, string[]>();
  for (const source of productFiles()) {
    if (source.path.startsWith('bench/')) continue;
    walk(source.program, (node) => {
      const text = source.text.slice(node.start, node.end);
      const callee = node.type === 'NewExpression' || node.type === 'CallExpression' ? node.callee : null;
      const builds = typeof callee === 'object' && callee !== null && 'name' in callee && callee.name === 'RegExp';
      if (builds || (node.type === 'Literal' && 'regex' in node))
        found.set(text, [...(found.get(text) ?? []), `${source.path}:${lineOf(source, node.start)}`]);
      return true;
    });
  }
  return found;
}

/** Expressions that `recheck` does not call safe, or that are built when the program runs, and why they stay. */
export const KEPT: Readonly<Record<string, string>> = {
  '/^(.+):([1-9]\\d*)$/': 'it reads an argument of a command line',
  '/^[a-z_]\\w*$/i': 'it reads an argument of a command line',
  "/(?<kept>'''[\\s\\S]*?'''|(?:#|--|\\/\\/)[^\\n]*)|(?<quoted>\"(?:[^\"\\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\\n]|\\\\.)*')|(?<![\\w.])userdata(?<steps>(?:\\s*\\.\\s*\\w+|\\s*\\[\\s*\"[^\"\\\\\\n]*\"\\s*\\]){0,2})(?<more>\\s*[.[])?(?!\\w)/g":
    'a command of the operator reads the program of one turn for itself, and nobody else waits for it',
  '/\\.\\s*(\\w+)|\\[\\s*"([^"\\\\\\n]*)"\\s*\\]/g':
    'a command of the operator reads the program of one turn for itself, and nobody else waits for it',
  '/^([ \\t]*)emit\\s+tool\\.aeiou\\.magic\\(.*\\)[ \\t]*$/gim':
    'a command of the operator reads the program of one turn for itself, and nobody else waits for it',
  '/^\\s*command\\b[^\\n]*\\n([\\s\\S]*)\\n\\s*endcommand\\s*$/':
    'a command of the operator reads the program of one turn for itself, and nobody else waits for it',
  '/tool\\.aeiou\\.magic/i': 'it repeats nothing',
  '/\\W/g': 'it repeats nothing',
  '/\\B(?=(\\d{3})+$)/g': 'a number has at most 25 digits',
  '/^-+|-+$/g': 'a folder name of init has at most 255 bytes',
  '/\\.?0*Z$/': 'Date.toISOString gives at most 27 characters',
  '/(?:=> |^\\s+)(\\/\\S+) \\(0x/gm': "it reads what this machine's own loader prints",
  '/^[ \\t]*(?:(?:endcommand|endfunc|endon)\\b|command[ \\t]*(?:[#/-].*)?\\r?$|func[ \\t]+[a-z_]\\w*[ \\t]*(?:\\(|means\\b|needs\\b|returns\\b|optional\\b)|on[ \\t]+event\\b)/im':
    'it begins at line starts alone, and neighbouring repetitions have no character in common',
  '/"(?:[^"\\\\]|\\\\.)*"(\\s*:)?|[{}[\\]]/g': 'the text is valid JSON, in which every quote has its end',
  '/"(?:seed|secret)"\\s*:\\s*"[A-Za-z0-9_-]{16}/':
    'it begins with a word, and neighbouring repetitions have no character in common',
  "new RegExp(`^[ \\\\t]*(?:\\\\{[ \\\\t]*)?[\"']?(?:${names})[\"']?[ \\\\t]*:`, 'm')":
    'the names are constants; each blank matches in one way only',
  'new RegExp(`(\\\\\\\\{0,7})"${name}\\\\1"\\\\s{0,8}:\\\\s{0,8}`, \'gi\')': 'every repetition is bounded; the name is quoted',
  "new RegExp(`^[${content.replace(/[\\\\[\\]]/g, '\\\\$&')}]$`, 'su')": 'it reads one character',
  "new RegExp(`^\\\\p{${form}}$`, 'u')": 'it reads one character',
  "new RegExp(`\\\\b${form.sum}\\\\b`, 'g')": 'it is a name between word boundaries',
  'new RegExp(`^(${form})$`)':
    'the forms are constants; each part of a name begins with a dot, so a text is divided in one way only',
};
