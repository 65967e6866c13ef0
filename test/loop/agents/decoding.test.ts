import { expect, it } from 'vitest';
import { decoderRules } from '../../../grammar/decoder/index.ts';
import { openaiAgent } from '../../../src/loop/agents/index.ts';
import { LoopController, MemoryStore, runtimeExecutor } from '../../../src/loop/index.ts';
import { createRuntime } from '../../../src/runtime/index.ts';
import { decoderTools } from '../../../src/tools/catalogue/grammar.ts';
import { toolGrammar } from '../../../src/tools/index.ts';
import { Random } from '../../fuzz/random.ts';
import { Sampler } from '../../grammar/decoder/sampler.ts';
import { ALLOWED, DENIED, POLICY } from '../../grammar/decoder/view.ts';
import { newKeyring, TestClock, USERDATA } from '../fake.ts';
import { modelServer, speak } from './server.ts';

/** An error in the form of the reply, in the syntax or in the name of a tool has one of these codes. */
const FORM = ['NS3', 'NS15', 'NS1003'];

it.each([
  [false, 2],
  [true, 12],
] as const)(
  'issue 22.2: a model that decodes at random under the grammar that it is sent writes turns that are executed; small: %s, decided: %s',
  async (small, decided) => {
    const tools = [...ALLOWED, ...DENIED];
    const grammar = toolGrammar(tools, { policy: POLICY, of: 'turn', small });
    // The server draws from the rules of which the grammar is the text.
    const sampler = new Sampler(decoderRules({ tools: decoderTools(ALLOWED), whole: 'turn', small }), new Random(22));
    await using server = await modelServer((response) => speak(response, sampler.draw()));
    await using runtime = await createRuntime({ tools, policy: POLICY, concurrency: 1, limits: { fuel: 20_000 } });
    const clock = new TestClock();
    const store = new MemoryStore();
    const loop = new LoopController({
      executor: runtimeExecutor(runtime),
      keyring: newKeyring('k', clock),
      store,
      clock,
      grammar,
    });
    const agent = openaiAgent({ model: 'm', baseUrl: server.baseUrl, grammar: 'vllm-guided' });
    for (let n = 0; n < 25; n++) await loop.runLoop({ sid: `s${n}`, agent, userdata: USERDATA, maxTurns: 1, maxReasks: 0 });
    expect(server.asked.map(({ body }) => body['guided_grammar'])).toEqual(Array(25).fill(grammar));
    const turns = (await Promise.all(Array.from({ length: 25 }, (_, n) => store.turns(`s${n}`)))).flat();
    // What such a model writes computes nonsense, and a handler may clear the error of the last line. All else is as it has to be.
    const others = new Set<unknown>(turns.map(({ reason }) => reason));
    for (const reason of ['ERR_EXEC', 'ERR_QUOTA', 'ERR_TOKEN_MISSING', null]) others.delete(reason);
    expect([...others]).toEqual([]);
    const missing = turns.filter(({ reason }) => reason === 'ERR_TOKEN_MISSING');
    expect(missing.every(({ inputs }) => inputs.envelope?.includes('clear_error'))).toBe(true);
    expect(turns.filter(({ error }) => FORM.includes(error?.code ?? ''))).toEqual([]);
    expect(turns.filter(({ reason }) => reason === null).length).toBeGreaterThanOrEqual(decided);
  },
);
