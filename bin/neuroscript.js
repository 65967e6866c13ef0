#!/usr/bin/env node
// Nothing newer than import() here: an unsupported Node must still be able to say so in one sentence.
const major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write(`neuroscript needs Node 24 or newer; this is Node ${process.versions.node}.\n`);
  process.exitCode = 2;
} else {
  import('../dist/src/cli/main.js').then(
    (cli) => cli.main(process.argv.slice(2)),
    (error) => {
      process.stderr.write(`neuroscript cannot start: ${error.message} (in a checkout, run "npm run build")\n`);
      process.exitCode = 70;
    },
  );
}
