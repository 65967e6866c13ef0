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

This page is generated from the declarations of the tools, and a test runs every example.

\`\`\`ts
import { createRuntime } from 'neuroscript-runtime';
import { pureTools, timeTools, toolsTools } from 'neuroscript-runtime/stdlib-tools';

const tools = [...pureTools(), ...toolsTools(), ...timeTools()];
await using runtime = await createRuntime({ tools, policy: { allow: ['tool.str.*', 'tool.list.*', 'tool.tools.*'] } });
\`\`\`

The command line has all standard tools except \`policy\`, \`ns\`, \`script\`, \`account\` and \`agentmodel\` (\`policyTools\`, \`rootTools\`,
\`storeTools\`), which an application has to add explicitly. Without \`--policy\` a program may call the tools without effects and
the tools of \`--tools\` and \`--mcp\`; with a policy file, it may call the tools that the policy allows. \`--storage FILE\` keeps the
data of \`memory\`, \`scratch\` and \`capsule\`. The API allows only the tools that the policy names. A tool of yours, or a mock,
replaces a pure tool of the same name.

## Pure tools

Pure tools use nothing of the host. They run inside the isolate, next to the script:

- **Cost.** A call costs 4 units of fuel and about a microsecond, and more in proportion to its data. The fuel is charged before the
  work starts ([limits.md](limits.md)). It does not count as a tool call: \`toolCalls\` does not include it, the journal, \`--trace\`
  and the audit do not show it, and a replay computes it again. \`toolMaxCalls\` of a policy cannot bound it, and a policy that
  tries is refused.
- **Policy.** The host checks the policy for each name before the run. A refused call goes to the host like any other call and
  fails there.
- **Values.** A tool never changes a list or map; it returns a new one.
- **Arguments** are checked exactly like those of a host tool: a wrong count or type is code 4, with all problems in one
  message. A \`?\` marks an argument that may be left out or nil.
- **Unicode.** All tools work on code points. Letter case, normal forms and \`\\p{…}\` follow the tables of V8, so a character that
  one Node line does not know (24: Unicode 16, 26: Unicode 17) may be a letter on the next. No result depends on a locale.
- **Patterns** have the syntax of RE2: no back references and no lookaround. Every pattern takes linear time on every text.
- A host tool cannot call a pure tool (code 35); it can use JavaScript instead.

${Object.entries(PURE_TOOLS)
  .map(([group, tools]) => section(group, pureTools(), tools))
  .join('\n\n')}

## Tools of the host

${[...Map.groupBy(hostTools(), ({ name }) => name.split('.')[1] ?? '')].map(([group, tools]) => section(group, tools)).join('\n\n')}

## Tools of the reference

The tools of the public Go implementation and their counterparts here. _Same_: the name, the order of the arguments and the
results are the same. _Better_: the same for every call that makes sense in the Go implementation. _Declined_: there is no such tool here.

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
