// The build makes this the first import of every entry point: an unsupported Node fails here, in one sentence, and not later in
// something it lacks. Nothing newer than Node 18 here. A browser has no `process`.
const node: string | undefined = globalThis.process?.versions?.node;
if (node !== undefined && Number(node.split('.')[0]) < 24)
  throw new Error(`neuroscript-runtime needs Node 24 or newer; this is Node ${node}.`);
