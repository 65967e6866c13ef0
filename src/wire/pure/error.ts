import type { PureDeclarations } from './declaration.ts';

/** Error values: `tool.error.…`. */
export const ERROR = {
  'tool.error.New': {
    description: 'An error as a value, to be returned or kept; `fail` raises one.',
    args: [
      ['code: any', 'what kind of error it is: a text or a number'],
      ['message: string', 'what went wrong, in words'],
    ],
    returns: 'error',
    example: 'tool.error.New("ERR_NOT_FOUND", "no such file")',
    gives: 'error: no such file',
  },
} as const satisfies PureDeclarations<'error'>;
