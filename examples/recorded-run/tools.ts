import { randomInt } from 'node:crypto';

/** Two real tools: what they answer differs from run to run. A list of what defineTool takes is enough. */
export const tools = [
  {
    group: 'dice',
    name: 'Roll',
    description: 'Rolls a die with so many sides.',
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
    description: 'The time by the clock of this machine.',
    returns: 'timedate',
    effects: 'read',
    run: () => new Date(),
  },
];
