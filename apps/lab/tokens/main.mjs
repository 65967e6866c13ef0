/** Counts what an agent is told with ten tools, in tokens of a public tokenizer (o200k), beside the estimate of the runtime. */
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { agentBrief, languageBrief, languageCard } from '../../../src/loop/agents/index.ts';
import { estimateTokens, toolPrompt } from '../../../src/tools/index.ts';
import { pureTools } from '../../../stdlib-tools/index.ts';

/** The goal for the rules, ten tools and the language. */
const GOAL = 1500;

const groups = ['str', 'list', 'map', 'math'].map((group) => [group, pureTools(group).slice(0, 10)]);
const [[, tools]] = groups;
const texts = {
  'the language on one page': languageCard(),
  'the language in brief': languageBrief(),
  'the same with the signatures of ten tools': languageBrief() + toolPrompt(tools, { brief: true }).text,
  'rules, ten tools, and the page': agentBrief({ tools, language: languageCard() }),
  'rules, ten signatures, and the brief': agentBrief({ tools, small: true }),
};
const count = (name, text) => {
  const [tokens, estimate] = [countTokens(text), estimateTokens(text)];
  process.stdout.write(`${name}: ${tokens} tokens, estimated ${estimate}\n`);
  return tokens;
};
for (const [name, text] of Object.entries(texts)) count(name, text);
for (const [group, ten] of groups)
  if (count(`what agentBrief says by default, with ten tools of ${group}`, agentBrief({ tools: ten })) > GOAL)
    process.exitCode = 1;
