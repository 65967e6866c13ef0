import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import * as runtime from '../../src/entries/index.ts';
import * as loop from '../../src/entries/loop.ts';
import { ROOT } from '../architecture/source.ts';
import { definitions } from '../cli/definitions.ts';

const page = (name: string): string => readFileSync(join(ROOT, 'docs', name), 'utf8');
const program = await definitions();
const flagsOf = (command: Command): string[] => [
  ...command.options.map(({ long }) => long ?? ''),
  ...command.commands.flatMap(flagsOf),
];

describe.each(['loop.md', 'agents.md'])('docs/%s', (name) => {
  it('names flags that exist', () => {
    const named = [
      ...new Set(
        page(name)
          .replace(/\bnpm .*/g, '')
          .match(/(?<=[\s`(])--[a-z][a-z-]+/g),
      ),
    ];
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((flag) => !flagsOf(program).includes(flag))).toEqual([]);
  });

  it('names functions and classes that can be imported', () => {
    const named = [...page(name).matchAll(/\b((?:new )?[A-Za-z]+)\(/g)].map(([, call = '']) => call);
    const ours = named.flatMap((call) =>
      /^new [A-Z]|Agent$|^transcribed$|^agentBrief$/.test(call) ? [call.replace('new ', '')] : [],
    );
    expect(ours.length).toBeGreaterThan(3);
    expect(ours.filter((one) => !(one in loop || one in runtime))).toEqual([]);
  });
});

describe('docs/loop.md', () => {
  it('has every kind of event', () => {
    for (const type of [
      'asked',
      'delta',
      'replied',
      'unanswered',
      'state',
      'output',
      'called',
      'suspended',
      'decided',
      'ended',
      'dropped',
    ])
      expect(page('loop.md')).toContain(`\`${type}\``);
  });
});
