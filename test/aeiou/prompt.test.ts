import { describe, expect, it } from 'vitest';
import { AI_RULES, EXAMPLE_ACTIONS, EXAMPLE_REPLY, extractEnvelope, systemPrompt } from '../../src/aeiou/index.ts';
import { sha256 } from './golden.ts';

describe('what models are told', () => {
  it('A3-14-1: the rules are the block of section 14 of the seed, byte for byte, and the prompt holds it', () => {
    expect(sha256(AI_RULES)).toBe('90bb7a46fe4d2d4433215671b2d55a7d9d129db6e7c4365e4bee2c82a79efcb1');
    expect(systemPrompt()).toContain(AI_RULES);
  });

  it('the example is a reply that the host reads', () => {
    expect(extractEnvelope(EXAMPLE_REPLY)).toEqual({
      userdata: '{}',
      scratchpad: null,
      output: null,
      actions: EXAMPLE_ACTIONS,
      lints: [],
    });
    expect(systemPrompt()).toContain(EXAMPLE_REPLY);
    expect(EXAMPLE_ACTIONS).toMatch(/^command\n[\s\S]+\nendcommand$/);
  });
});
