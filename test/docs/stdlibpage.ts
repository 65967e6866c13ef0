import { Policy, type ToolDefinition, toolCatalogue } from '../../src/tools/index.ts';
import type { PureDeclaration } from '../../src/wire/pure/declaration.ts';
import { PURE_TOOLS } from '../../src/wire/pure/tools.ts';
import {
  capsuleTools,
  cryptoTools,
  fsTools,
  memoryTools,
  pathRule,
  policyTools,
  pureTools,
  rootTools,
  scratchTools,
  storeTools,
  systemTools,
  timeTools,
  toolsTools,
} from '../../stdlib-tools/index.ts';
import { REFERENCE } from './reference.ts';
import { table } from './table.ts';

/** Where the page stands, from the root of the repository. */
export const STDLIB_PAGE = 'docs/stdlib.md';

/** The standard tools of the host, in the order of the page. */
export function hostTools(): readonly ToolDefinition[] {
  return [
    ...toolsTools(),
    ...timeTools(),
    ...cryptoTools(),
    ...fsTools(),
    ...memoryTools(),
    ...scratchTools(),
    ...capsuleTools(),
    ...systemTools({ policy: new Policy() }),
    ...policyTools(pathRule([])),
    ...rootTools(),
    ...storeTools(),
  ];
}

/** The text of `docs/stdlib.md`, made from the definitions. */
export function stdlibPage(): string {
  return `# Standard tools

Made by \`npx node scripts/stdlib.mjs\` from \`stdlib-tools/\` and \`src/wire/pure/\`; a test fails when it is stale, and another one
runs every example.

\`\`\`ts
import { createRuntime } from 'neuroscript-runtime';
import { pureTools, timeTools, toolsTools } from 'neuroscript-runtime/stdlib-tools';

const tools = [...pureTools(), ...toolsTools(), ...timeTools()];
await using runtime = await createRuntime({ tools, policy: { allow: ['tool.str.*', 'tool.list.*', 'tool.tools.*'] } });
\`\`\`

The command line has all of them but \`policy\`, \`ns\`, \`script\`, \`account\` and \`agentmodel\` (\`policyTools\`, \`rootTools\`,
\`storeTools\`), which an application gives on purpose. Without \`--policy\` a program may call those without effects, and the tools
of \`--tools\` and \`--mcp\`; with a policy file, what that allows. \`--storage FILE\` keeps what \`memory\`, \`scratch\` and \`capsule\`
store. In the API nothing is allowed that the policy does not name. A tool of yours, or a mock, takes the place of a pure tool of
the same name.

## Pure tools

They need nothing of the host, so they run inside the isolate, beside the script:

- **Cost.** A call takes 4 units of fuel and about a microsecond, and then in proportion to its data, paid for before the work is
  done ([limits.md](limits.md)). It is no tool call: \`toolCalls\` does not count it, neither the journal nor \`--trace\` nor the
  audit shows it, and repeating a run computes it again. \`toolMaxCalls\` of a policy cannot bound it and says so.
- **Policy** is asked before the run, for each name. A call that it refuses goes to the host like any, and fails there.
- **Values.** Lists and maps are never changed: a tool gives a new one.
- **Arguments** are checked exactly as those of a tool of the host: a wrong count or type is code 4 with all problems in one
  message. A \`?\` marks what may be left out or nil.
- **Unicode.** Texts are code points throughout. Letter case, normal forms and \`\\p{…}\` follow the tables of V8: a character that
  is newer than one Node line (24: Unicode 16, 26: Unicode 17) may be a letter on the next. Nothing depends on a locale.
- **Patterns** have the syntax of RE2: no back references, no looking around, and linear time for every pattern and text.
- A tool of the host cannot call them (code 35): it has JavaScript.

${Object.entries(PURE_TOOLS)
  .map(([group, tools]) => section(group, pureTools(), tools))
  .join('\n\n')}

## Tools of the host

${[...Map.groupBy(hostTools(), ({ name }) => name.split('.')[1] ?? '')].map(([group, tools]) => section(group, tools)).join('\n\n')}

## Tools of the reference

What the public Go implementation has, and what became of it here. _Same_: names, order of arguments and results are the same.
_Better_: the same for every call that made sense there.

${table(
  ['tool', '', ''],
  REFERENCE.map(({ tool, verdict, why }) => [`\`${tool}\``, verdict, why]),
)}
`;
}

function section(group: string, tools: readonly ToolDefinition[], pure: Readonly<Record<string, PureDeclaration>> = {}): string {
  const own = toolCatalogue(tools.filter(({ name }) => name.startsWith(`tool.${group}.`)));
  const cells = own.map(({ name, call, args, description, example = '' }) => {
    const declared = pure[name];
    const shown =
      declared === undefined ? code(example) : declared.example.map((part) => code(part.replaceAll('\n', '⏎'))).join(' → ');
    const told = args.map((arg) => `${code(arg.name)} ${arg.description}`).join('; ');
    return [code(call.replace(/^tool\./, '')), [description, told, shown].filter((line) => line !== '').join('<br>')];
  });
  return `### ${group}\n\n${table(['tool', ''], cells)}`;
}

/** A text as code in a cell of a table. */
function code(text: string): string {
  if (text === '') return '';
  const fence = text.includes('`') ? '``' : '`';
  return `${fence}${text.replaceAll('|', '\\|')}${fence}`;
}
