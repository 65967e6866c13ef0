import type { AnswerForm } from '../../wire/journal.ts';
import type { ToolDefinition } from './definition.ts';

/** Most choices that a person is shown, and most UTF-16 units of one. */
const CHOICES = { most: 20, length: 200 } as const;

/**
 * What the answer to a call of a tool must be, by the declared type of its result. Undefined for a value of any other type, and for a tool
 * that makes its result from the answer.
 */
export function answerForm(tool: Pick<ToolDefinition, 'result' | 'complete'> | undefined): AnswerForm | undefined {
  const result = tool?.result ?? null;
  if (result === null || tool?.complete !== null) return undefined;
  const { type, enum: values } = 'type' in result ? { type: result.type, enum: undefined } : result.json;
  if (type === 'bool' || type === 'boolean') return 'truth';
  if (type === 'int' || type === 'float' || type === 'number' || type === 'integer') return 'number';
  if (Array.isArray(values) && values.length > 0 && values.length <= CHOICES.most && values.every(isChoice))
    return { choices: values };
  return type === 'string' ? 'text' : undefined;
}

const isChoice = (value: unknown): value is string => typeof value === 'string' && value.length <= CHOICES.length;
