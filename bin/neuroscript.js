#!/usr/bin/env node
// Plain old syntax on purpose: an unsupported Node must still be able to say so in one sentence.
var major = Number(process.versions.node.split('.')[0]);
if (major < 24) {
  process.stderr.write('neuroscript needs Node 24 or newer; this is Node ' + process.versions.node + '.\n');
  process.exitCode = 2;
} else {
  import('../dist/src/cli/main.js').then(
    function (cli) {
      return cli.main(process.argv.slice(2));
    },
    function (error) {
      process.stderr.write('neuroscript cannot start: ' + error.message + ' (run "npm run build" in a checkout)\n');
      process.exitCode = 70;
    },
  );
}
