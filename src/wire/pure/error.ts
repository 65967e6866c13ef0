import type { PureDeclarations } from './declaration.ts';

/** Error values: `tool.error`. */
export const ERROR = {
  'tool.error.New': {
    description: 'Creates an error value, to return or to store. `fail` raises one.',
    args: [
      ['code: any', 'the kind of error: a string or a number'],
      ['message: string', 'what went wrong'],
    ],
    returns: 'error',
    example: ['tool.error.New("ERR_NOT_FOUND", "no such file")', 'error: no such file'],
  },
} as const satisfies PureDeclarations<'error'>;
