import type { PureDeclarations } from './declaration.ts';

/** Templates: `tool.template`. */
export const TEMPLATE = {
  'tool.template.Render': {
    description:
      'Fills in every `{{path}}` of a template from a map. Inserted text is not filled in again. A path without a value fails with code 9, unless `missing` is given. `{{{{` stands for two braces.',
    args: [
      ['template: string', 'the template'],
      ['values: map', 'the map with the values'],
      ['missing?: string', 'the text for paths without a value; if omitted, such a path is an error'],
    ],
    returns: 'string',
    example: ['tool.template.Render("Dear {{user.name}}, {{{{x}}", {"user": {"name": "Ann"}})', 'Dear Ann, {{x}}'],
  },
} as const satisfies PureDeclarations<'template'>;
