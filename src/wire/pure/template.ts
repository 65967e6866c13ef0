import type { PureDeclarations } from './declaration.ts';

/** Templates: `tool.template.…`. */
export const TEMPLATE = {
  'tool.template.Render': {
    description:
      'A text with `{{path}}` filled from a map, each once and never looked at again. What the map does not have is code 9, or `missing` where that is given; `{{{{` stands for two braces.',
    args: [
      ['template: string', 'the text with its places'],
      ['values: map', 'the map to fill them from'],
      ['missing?: string', 'what to fill in where the map has nothing; without it that is an error'],
    ],
    returns: 'string',
    example: 'tool.template.Render("Dear {{user.name}}, {{{{x}}", {"user": {"name": "Ann"}})',
    gives: 'Dear Ann, {{x}}',
  },
} as const satisfies PureDeclarations<'template'>;
