// Reads a workflow of GitHub from standard input and prints, as JSON, what GitHub's own parser says of it: its faults, and the commands of
// its steps. `test/package/release.test.ts` bundles this file, because the parser imports JSON in a way that Node does not know.
import { text } from 'node:stream/consumers';
import { convertWorkflowTemplate, NoOperationTraceWriter, parseWorkflow } from '@actions/workflow-parser';

const file = { name: 'release.yml', content: await text(process.stdin) };
const { context, value } = parseWorkflow(file, new NoOperationTraceWriter());
// The conversion judges jobs and expressions, and adds its faults to the context.
const { jobs = [] } = value === undefined ? {} : await convertWorkflowTemplate(context, value);
const faults = context.errors.getErrors().map(({ message }) => message);
const commands = jobs.flatMap(({ steps }) => steps.flatMap((step) => ('run' in step ? [String(step.run)] : [])));
process.stdout.write(JSON.stringify({ faults, commands }));
