/** Counts what an agent is told with ten tools, in tokens of a public tokenizer (o200k), beside the estimate of the runtime. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { agentBrief, languageBrief, languageCard } from '../../src/loop/agents/index.ts';
import { estimateTokens, toolPrompt } from '../../src/tools/index.ts';
import { pureTools } from '../../stdlib-tools/index.ts';

const tools = pureTools('str').slice(0, 10);
const texts = {
  'the language on one page': languageCard(),
  'the language in brief': languageBrief(),
  'the same with the signatures of ten tools': languageBrief() + toolPrompt(tools, { brief: true }).text,
  'rules, ten tools, and the page': agentBrief({ tools }),
  'rules, ten signatures, and the brief': agentBrief({ tools, small: true }),
};
for (const [name, text] of Object.entries(texts))
  process.stdout.write(`${name}: ${countTokens(text)} tokens, estimated ${estimateTokens(text)}\n`);
