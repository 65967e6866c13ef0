import { format, lexemesOf } from '../../grammar/index.ts';
import { complete } from '../../src/lsp/complete.ts';
import { problemsOf } from '../../src/lsp/diagnose.ts';
import { semanticTokens } from '../../src/lsp/highlight.ts';
import { hover, signatureHelp } from '../../src/lsp/hover.ts';
import { definitionOf, referencesOf, renameSpots } from '../../src/lsp/navigate.ts';
import { folds, outline } from '../../src/lsp/outline.ts';
import { layoutEdits } from '../../src/lsp/requests.ts';
import { Workspace } from '../../src/lsp/workspace.ts';
import { Policy } from '../../src/tools/index.ts';
import { checkSources } from '../../src/worker/check.ts';
import type { ForeignReader } from './foreign.ts';

/** Most units of a program here. It is checked, which takes so long for each unit that few units show quadratic time. */
const UNITS = 2 ** 13;
const URI = 'file:///a.ns';

/** Pieces that begin what the language has, closed and open. */
const PIECES = [
  ...['command\n', 'command\nemit 1\nendcommand\n', 'func f() means\n', 'func f() means\nemit f()\nendfunc\n', 'endfunc\n'],
  ...[
    'on error do\n',
    'on event "a" as e do\n',
    'endon\n',
    'if a\n',
    'if a\nendif\n',
    'else\n',
    'while a\n',
    'for each a in b\n',
  ],
  ...[
    'together\n',
    'endtogether\n',
    '```',
    '"""',
    "'",
    'await ',
    '${',
    'xs.each { |x| ',
    '"a" + ',
    '"{{a}}" ',
    '{{',
    '(',
    'f(',
    '[',
    'a[',
    '{',
    '{"a": ',
    '#\n',
    '# a',
  ],
  ...[
    'a.',
    'tool.a.B(',
    'set a = ',
    'set a = 1\n',
    'emit a\n',
    'emit a; ',
    'a and ',
    '- ',
    'not ',
    'eval(',
    ':: a: b\n',
    ':: ',
    '\\\n',
    '@',
    '1e',
    '0x',
  ],
];
/** Statements of a program that parses; the last one ends with what the harness appends. */
const STATEMENTS = [
  ...[
    'emit a\n',
    'set a = 1\n',
    'set a = a + a\n',
    'emit "{{a}}"\n',
    'call f()\n',
    'emit f(a)\n',
    'emit tool.a.B(a)\n',
    '# c\n',
    '\n',
  ],
  ...[
    'if a\nendif\n',
    'while a\nbreak\nendwhile\n',
    'return\n',
    'fail\n',
    'clear_error\n',
    'emit [a, [a]]\n',
    'emit {"a": {"a": a}}\n',
  ],
];
/** Definitions of a file that parses. */
const DEFINITIONS = [
  'func f() means\nendfunc\n',
  'func f(needs a optional b returns c) means\nreturn f(a, b)\nendfunc\n',
  'on event "e" as a do\nendon\n',
  '# c\n',
];

/** Without the end that the harness appends. */
const whole = (text: string): string => text.slice(0, -1);
const inCommand = (text: string): string => `command\n${whole(text)}\nendcommand\n`;

/** What the command line does with a program. */
function checked(text: string): void {
  lexemesOf(text, false);
  format(text, { name: 'f' });
  checkSources([{ name: 'f', text }], 2 ** 20, {});
}

/** What an editor asks of a document, at its beginning, its middle and its end. */
function edited(text: string): void {
  const workspace = new Workspace({ tools: [], policy: new Policy({}), complete: true, denies: true });
  workspace.edit(URI, text);
  workspace.edit(URI, `${text}\n`);
  const document = workspace.document(URI);
  if (document === undefined) throw new Error('the workspace has no document');
  problemsOf(document, workspace.surroundings(document));
  for (const ask of [semanticTokens, outline, folds, layoutEdits]) ask(document);
  for (const line of [0, Math.floor(document.lineCount / 2), document.lineCount - 2])
    for (const character of [0, 2, 6]) {
      const place = { line: Math.max(0, line), character };
      for (const ask of [hover, signatureHelp, definitionOf, referencesOf]) ask(document, place, workspace);
      complete(document, place, workspace, true);
      try {
        renameSpots(document, place, 'z', workspace);
      } catch {}
    }
}

/** Readers of programs that do not run: the command line and the language server read programs of others. */
export const PROGRAM_READERS: readonly ForeignReader[] = [
  { name: 'a program', read: checked, pieces: PIECES, most: UNITS },
  { name: 'the statements of a program', read: (text) => checked(inCommand(text)), pieces: STATEMENTS, most: UNITS },
  { name: 'the definitions of a program', read: (text) => checked(whole(text)), pieces: DEFINITIONS, most: UNITS },
  { name: 'an expression', read: (text) => checked(`command\nemit ${whole(text)}1\nendcommand\n`), pieces: PIECES, most: UNITS },
  { name: 'a document of an editor', read: edited, pieces: PIECES, most: UNITS },
  { name: 'statements in an editor', read: (text) => edited(inCommand(text)), pieces: STATEMENTS, most: UNITS },
  { name: 'definitions in an editor', read: (text) => edited(whole(text)), pieces: DEFINITIONS, most: UNITS },
];
