/** A TextMate grammar of NeuroScript for syntax highlighting, made from the tables of the language itself. */
import { BUILTINS } from '../../grammar/vocabulary/builtins.ts';
import { KEYWORDS } from '../../grammar/vocabulary/keywords.ts';

const CONSTANTS = ['false', 'nil', 'true'];
const OPERATORS = ['and', 'no', 'not', 'or', 'some'];
const functions = Object.keys(BUILTINS);
const others = new Set([...CONSTANTS, ...OPERATORS, ...functions]);
const control = KEYWORDS.filter((word) => !others.has(word));

/** A rule for whole words. After a dot, a word is a key or part of a name. */
const words = (name: string, list: readonly string[]) => ({ match: `(?<![\\w.])(?:${list.join('|')})(?!\\w)`, name });

/** A rule for a string between two equal marks. */
const string = (mark: string, inside: object) => ({ begin: mark, end: mark, name: 'string.quoted', patterns: [inside] });

const escaped = { match: '\\\\(?:u[0-9A-Fa-f]{4}|.)', name: 'constant.character.escape' };
const placeholder = { begin: '\\{\\{', end: '\\}\\}', name: 'meta.embedded', patterns: [{ include: '$self' }] };

/** The grammar, in the form that Shiki and editors load. The first rule of a list that matches wins. */
export const neuroscript = {
  name: 'neuroscript',
  displayName: 'NeuroScript',
  aliases: ['ns'],
  scopeName: 'source.neuroscript',
  patterns: [
    { match: '::.*$', name: 'comment.line.metadata' },
    { match: '(?:#|--|//).*$', name: 'comment.line' },
    string('```', placeholder),
    string('"""', escaped),
    string("'''", escaped),
    string('"', escaped),
    string("'", escaped),
    { match: '(?<!\\w)\\d+(?:\\.\\d+)?', name: 'constant.numeric' },
    { match: '(?<![\\w.])tool(?:\\.[A-Za-z_]\\w*)+', name: 'entity.name.function.tool' },
    {
      match: '(?<![\\w.])(func|call)\\s+([A-Za-z_]\\w*)(?![\\w.])',
      captures: { 1: { name: 'keyword.control' }, 2: { name: 'entity.name.function' } },
    },
    words('constant.language', CONSTANTS),
    words('keyword.operator.word', OPERATORS),
    words('support.function', functions),
    words('keyword.control', control),
    { match: '\\*\\*|[=!<>]=|[-+*/%&|^~<>=]', name: 'keyword.operator' },
  ],
};
