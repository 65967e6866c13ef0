import type { Parameter, ToolDefinition } from '../src/tools/index.ts';

/** A tool as a program would call it: `tool.str.Length(input_string: string) → int`. */
export function callText({ name, parameters, returns }: ToolDefinition): string {
  return `${name}(${parameters.map(parameterText).join(', ')}) → ${returns}`;
}

/** What a tool does, takes and gives back, for a reader. */
export function catalogueText(tool: ToolDefinition): string {
  const { description, parameters, example } = tool;
  const described = parameters.filter((parameter) => parameter.description !== '');
  return [
    callText(tool),
    ...(description === '' ? [] : [description]),
    ...described.map(({ name, description: words }) => `  ${name}: ${words}`),
    ...(example === '' ? [] : [`Example: ${example}`]),
  ].join('\n');
}

/** The arguments of a tool as maps. */
export function parametersOf({ parameters }: ToolDefinition) {
  return parameters.map((parameter) => ({
    name: parameter.name,
    type: typeOf(parameter),
    required: parameter.required,
    description: parameter.description,
  }));
}

function parameterText(parameter: Parameter): string {
  const { name, required, default: fallback } = parameter;
  const value = fallback === null ? '' : ` = ${JSON.stringify(fallback)}`;
  return `${name}${required || fallback !== null ? '' : '?'}: ${typeOf(parameter)}${value}`;
}

function typeOf({ kind }: Parameter): string {
  return 'type' in kind ? kind.type : 'any';
}
