import { describe, expect, it } from 'vitest';
import { AgentError, scriptAgent } from '../../../src/loop/agents/index.ts';
import { ConfigError } from '../../../src/wire/errors.ts';
import { requestOf } from './request.ts';

const request = (turn: number) => requestOf({ turn });
const envelope = (body: string) => `<<<NSENV:V3:START>>>\n${body}\n<<<NSENV:V3:END>>>`;

describe('the scripted agent', () => {
  it('answers turn by turn with the envelopes of its transcript, each with the prose before it', async () => {
    const agent = scriptAgent(`Hello.\n${envelope('one')}\nNow the second:\n\n${envelope('two')}\nBye.\n`, 'agent.txt');
    expect(await agent.reply(request(1))).toBe(`Hello.\n${envelope('one')}`);
    expect(await agent.reply(request(2))).toBe(`Now the second:\n\n${envelope('two')}`);
  });

  it('names the turn that has no reply', async () => {
    const agent = scriptAgent(envelope('one'), 'agent.txt');
    const error = await agent.reply(request(2)).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ code: 'ERR_AGENT', turn: 2, message: 'turn 2 has no reply: agent.txt holds one envelope' });
  });

  it('plays an envelope that never ends as a reply, so that the turn reports it', async () => {
    const agent = scriptAgent(`${envelope('one')}\n<<<NSENV:V3:START>>>\ntwo`, 'agent.txt');
    expect(await agent.reply(request(2))).toBe('\n<<<NSENV:V3:START>>>\ntwo'.slice(1));
  });

  it.each(['', 'only prose', '<<<NSENV:V3:END>>>', 'x <<<NSENV:V3:START>>>'])(
    'refuses a transcript without an envelope: %j',
    (text) => {
      expect(() => scriptAgent(text, 'agent.txt')).toThrow(ConfigError);
    },
  );
});
