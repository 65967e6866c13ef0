import type { PureDeclarations } from './declaration.ts';

/** Tables as text (RFC 4180): `tool.csv`. */
export const CSV = {
  'tool.csv.Parse': {
    description:
      'Reads CSV: a map for each row, with the names of the first row as keys, or a list for each row. All fields are strings; blank lines are left out. Fails with code 41 and the line for a row with more or fewer fields than the first, a name that occurs twice, or a misplaced quote.',
    args: [
      ['text: string', 'the CSV; a field in double quotes may hold anything, with `""` for a quote'],
      ['header: bool = true', 'whether the first row has the names; false gives lists'],
      ['separator?: string', 'one character; if omitted, a comma'],
    ],
    returns: 'list',
    example: ['tool.csv.Parse("id,name\\n07,\\"Pen, blue\\"\\n")', '[{"id": "07", "name": "Pen, blue"}]'],
  },
  'tool.csv.Format': {
    description:
      'Writes rows as CSV, with quotes where a field needs them. Rows are maps, after a row of names, or lists. Fails with code 41 and the row for a key that is not a column, and for lists and maps in a row.',
    args: [
      ['rows: slice_any', 'maps, or lists of fields: strings, numbers, booleans, nil for an empty field'],
      ['columns?: slice_string', 'the names to write first, and their order; if omitted, the keys of the first map'],
      ['separator?: string', 'one character; if omitted, a comma'],
    ],
    returns: 'string',
    example: ['tool.csv.Format([{"id": 7, "name": "Pen, blue"}])', 'id,name\n7,"Pen, blue"\n'],
  },
} as const satisfies PureDeclarations<'csv'>;
