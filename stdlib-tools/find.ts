import { type ToolDefinition, toolCatalogue } from '../src/tools/index.ts';

/** Weights of the places where a word of the question may stand. */
const WEIGHTS = { name: 4, group: 3, words: 1 } as const;

/** The words of a tool, by place. */
interface Indexed {
  readonly tool: ToolDefinition;
  readonly name: ReadonlySet<string>;
  readonly group: ReadonlySet<string>;
  readonly words: ReadonlySet<string>;
}

/**
 * The tools that fit a question best, the best first, each as its signature with the first sentence of its description. A word counts more in
 * the name of a tool than in its description, and more if few tools have it. Tools with equal scores keep their order.
 */
export function findTools(tools: readonly ToolDefinition[], question: string, most: number): readonly string[] {
  const asked = [...new Set(wordsOf(question))];
  const index = tools.map(indexed);
  const scores = new Map<Indexed, number>();
  for (const word of asked) {
    const found = index.flatMap((entry) => {
      const weight = weightOf(entry, word);
      return weight === 0 ? [] : [{ entry, weight }];
    });
    const rarity = Math.log(1 + index.length / Math.max(1, found.length));
    for (const { entry, weight } of found) scores.set(entry, (scores.get(entry) ?? 0) + weight * rarity);
  }
  const best = [...scores].sort((a, b) => b[1] - a[1]).slice(0, most);
  return toolCatalogue(best.map(([{ tool }]) => tool)).map(({ call, description }) => `${call}  # ${firstLine(description)}`);
}

function indexed(tool: ToolDefinition): Indexed {
  const [group = '', local = ''] = [tool.name.split('.').slice(1, -1).join(' '), tool.name.split('.').at(-1)];
  const told = [tool.description, ...tool.parameters.flatMap(({ name, description }) => [name, description])].join(' ');
  return { tool, name: new Set(wordsOf(local)), group: new Set(wordsOf(group)), words: new Set(wordsOf(told)) };
}

function weightOf({ name, group, words }: Indexed, word: string): number {
  if (name.has(word)) return WEIGHTS.name;
  if (group.has(word)) return WEIGHTS.group;
  return words.has(word) ? WEIGHTS.words : 0;
}

/** Other words for what the standard tools call by one name. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['string', 'str'],
  ['text', 'str'],
  ['array', 'list'],
  ['object', 'map'],
  ['dictionary', 'map'],
  ['pattern', 'regex'],
  ['number', 'math'],
  ['order', 'sort'],
  ['date', 'time'],
  ['clock', 'time'],
  ['file', 'fs'],
]);

/** The words of a text in lower case, without a plural `s`, a name such as `SplitWords` as two words. */
function wordsOf(text: string): readonly string[] {
  const words =
    text
      .replace(/([a-z])([A-Z])/g, '$1 $2')
      .toLowerCase()
      .match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.map((word) => {
    const singular = word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
    return SYNONYMS.get(singular) ?? singular;
  });
}

function firstLine(description: string): string {
  return description.split(/(?<=[.!?])\s/, 1)[0] ?? '';
}
