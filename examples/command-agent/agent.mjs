// An agent that needs no model: it reads the prompt from standard input and writes its reply to standard output. Any program
// that does this can be an agent; see docs/agents.md.
import { text } from 'node:stream/consumers';

const prompt = await text(process.stdin);

// The envelope of this turn is the last one, because the rules before it contain an example.
const envelope = prompt.slice(prompt.lastIndexOf('\n<<<NSENV:V3:START>>>') + 1);

// The OUTPUT section has what the last turn emitted.
const [, output = ''] = /^<<<NSENV:V3:OUTPUT>>>\n([\s\S]*?)\n<<<NSENV:V3:/m.exec(envelope) ?? [];
const count = Number(/^count (\d+)$/m.exec(output)?.[1] ?? 0) + 1;
const action = count < 3 ? 'continue' : 'done';

process.stdout.write(`Turn ${process.env.NEUROSCRIPT_TURN}: I count on.

<<<NSENV:V3:START>>>
<<<NSENV:V3:USERDATA>>>
{}
<<<NSENV:V3:ACTIONS>>>
command
  emit "count ${count}"
  emit tool.aeiou.magic("LOOP", {"action": "${action}"})
endcommand
<<<NSENV:V3:END>>>
`);
