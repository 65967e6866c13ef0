import { NS_CODES } from '../../wire/codes.ts';
import { type PureDeclaration, readSignature } from '../../wire/pure/declaration.ts';
import { ToolError } from '../errors.ts';
import { defineAs } from './define.ts';
import type { ToolDefinition } from './definition.ts';

/**
 * The definition of a pure tool, made from its declaration: lookup, policy, checks and catalogues treat it like any other tool.
 * Only scripts can call it, because it runs inside the isolate.
 */
export function definePure(name: string, declaration: PureDeclaration): ToolDefinition {
  const {
    args: declared,
    example: [call, prints],
    ...words
  } = declaration;
  const args = declared.map(([signature, description]) => {
    const { default: value, ...arg } = readSignature(signature);
    return { ...arg, description, ...(value === null ? {} : { default: value }) };
  });
  const run = (): never => {
    throw new ToolError(NS_CODES.NotImplemented, `${name} runs inside the isolate: only a script can call it`);
  };
  // A result of one line is appended to the call as a comment.
  const example = prints.includes('\n') ? call : `${call}  # ${prints}`;
  return defineAs({ where: 'isolate', standard: true }, { ...words, name, args, example, effects: 'none', run });
}
