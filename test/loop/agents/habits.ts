import { habitsOf, KNOWN } from '../../../conformance/habits/corpus.ts';

/** Forms of other languages as they stand in a slip, and the words of the prompt that say what to write instead; null where none do. */
const FORMS: readonly (readonly [form: string, slip: RegExp, prompt: RegExp | null])[] = [
  [
    'an assignment without `set`',
    /^\s*(?:let|const|var|local|readonly|my|mut|auto|int|float|string)\b|^\s*\$?\w+(?:\[[^\]]*\]|\.\w+)?\s*(?::?=|<-)(?!=)/m,
    /`set x = e`[^\n]*no `let`/,
  ],
  ['a counting operator', /[-+*/]=|\+\+|--/, /No `\+=`, no `\+\+`/],
  ['a print', /\b(?:print(?:ln|f)?!?|console\.\w+|echo|puts|say|log|fmt\.Print\w*)\b/, /`emit e` is output/],
  ['a bare call', /^\s*[\w.]+\((?:[^()]|\([^()]*\))*\);?\s*$/m, /A call alone is no statement/],
  ['`elif`', /\belif\b|\belse if\b|\belseif\b|\belsif\b/, /there is no `elif`/],
  ['braces around a block', /\{\s*$|^\s*\}|\)\s*\{/m, /no braces around blocks/],
  [
    'another end of a block',
    /^\s*(?:if|while|for|else|def|elif|try|except)\b.*:\s*$|^\s*(?:fi|done|esac|end|next|wend|end_?\s?\w+|endforeach|endfunction)\s*$|\b(?:then|do)\s*$/m,
    /`if c` … `else` … `endif`/,
  ],
  ['a semicolon', /;/, /no semicolons/],
  [
    'another loop',
    /\bfor\b(?! each)|\bforeach\b|\bfor each\s*\(|\bfor each \w+ of|\.forEach\b|\.each\b|\btimes\b/,
    /`for each v in xs`/,
  ],
  ['a counting loop', /\brange\(|\bseq\b|\{\d+\.\.\d+\}|\bto\b|\.\.\.?|;[^;]*;/, /No counting loop/],
  ['`null`', /\b(?:null|None|undefined|Nil|nullptr)\b/, /`nil` \(no `null`\)/],
  ['`True`', /\b(?:True|False|TRUE|FALSE)\b/, /`true`/],
  ['a bare key', /\{\s*\w+\s*:/, /always quote keys/],
  ['marks for and, or, not', /&&|\|\||!(?=[\w(])/, /`and or not`/],
  ['marks for a comparison', /===?|!==?|~=|<>|≠|≤|\s-(?:eq|ne|lt|le|gt|ge|z|n)\s/, /== != < <= > >=/],
  ['one `=` for a comparison', /\bif \w+ =(?!=)/, /== != < <= > >=/],
  ['a division that is a comment', /\w \/\/ \w/, /begin a comment/],
  ['a default by `or`', /\s(?:or|\|\||\?\?)\s+["[{\d]/, /`and`, `or` give a boolean/],
  ['a method', /[\w\])"']\.(?!\w+\.)\w+\(|\.length\b/, /No methods: all else is a tool/],
  [
    'a function of another library',
    /\b(?:str|int|sorted|abs|round|len|sum|min|max|zip|set|isinstance|type|String|Number|parseInt|Math\.\w+|JSON\.\w+|Object\.\w+|Array\.\w+|json\.\w+|math\.\w+|isNaN|enumerate)\(/,
    /Built in: [^\n]*all else is a tool/,
  ],
  ['values in a text', /\bf["']|`[^`]*\$?\{|\$\{|#\{|"[^"]*\$\w|%[sd]|\.format\(/, /Three backticks fill in/],
  ['a raw text', /\br["']|'[^']*\\[dwsb]/, /'…'` is not raw/],
  ['a handler of another language', /\b(?:try|except|catch|rescue|trap)\b/, /A handler guards the block/],
  ['a raised error', /\b(?:raise|throw|exit|die|panic)\b/, /`fail "why"`/],
  ['a comment of another language', /\/\*|^\s*;|\s;\s/m, /begin a comment/],
  ['a place from the end', /\[-\d|\.at\(-/, /also −1, is an error/],
  ['joint calls of another language', /\bawait\b|Promise\.all/, /Tool calls at the same time: `together`/],
  ['a power', /\^|\bpow\(/, /`\+ - \* \/ % \*\*`/],
  ['several command blocks', /\bcommand\b/, /A program is one `command` block/],
  ['a definition of another language', /\b(?:def|function|func|fn|sub|async)\b/, null],
  ['a comprehension', /[[{(][^\]})]*\bfor\b[^\]})]*\bin\b/, null],
  ['a slice', /\[[^\]]*:[^\]]*\]/, null],
  ['a choice of two values', /\?[^?:\n]+:|\bif\b.+\belse\b/, null],
  ['a function as a value', /=>|->|\blambda\b|\|\w+\|/, null],
  ['a pattern of names', /(?:const|let|var)\s*[[{]|\.\.\.\w/, null],
  ['cases', /\b(?:switch|case|match)\b/, null],
  ['an import', /\b(?:import|require|from)\b/, null],
];

/**
 * How many of the known slips consist of forms for each of which the prompt says what to write. A slip of which no form is in the table does not
 * count.
 */
export function namedHabits(prompt: string): {
  readonly named: number;
  readonly all: number;
  readonly missing: ReadonlyMap<string, number>;
} {
  const missing = new Map<string, number>();
  let [named, all] = [0, 0];
  for (const { slip, right } of KNOWN.flatMap((file) => habitsOf(file))) {
    all++;
    const kept = new Set(right.split('\n'));
    const written = slip
      .split('\n')
      .filter((line) => !kept.has(line))
      .join('\n');
    const forms = FORMS.filter(([, form]) => form.test(written));
    const unnamed = forms.filter(([, , words]) => words === null || !words.test(prompt)).map(([form]) => form);
    for (const form of forms.length === 0 ? ['no form of the table'] : unnamed) missing.set(form, (missing.get(form) ?? 0) + 1);
    if (forms.length > 0 && unnamed.length === 0) named++;
  }
  return { named, all, missing };
}
