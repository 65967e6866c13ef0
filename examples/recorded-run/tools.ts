import { randomInt } from 'node:crypto';

/** Two tools whose answers differ from run to run. Each entry is an argument of `defineTool`. */
export const tools = [
  {
    group: 'dice',
    name: 'Roll',
    description: 'Rolls a die.',
    args: [{ name: 'sides', type: 'int', default: 6 }],
    returns: 'int',
    effects: 'read',
    run({ sides }: { sides: number }) {
      if (sides < 2) throw new Error(`a die has two sides at least, not ${sides}`);
      return randomInt(1, sides + 1);
    },
  },
  {
    group: 'clock',
    name: 'Now',
    description: 'Returns the time of this machine.',
    returns: 'timedate',
    effects: 'read',
    run: () => new Date(),
  },
];
