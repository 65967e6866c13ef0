#!/usr/bin/env node
// Nothing newer than import() here: an unsupported Node must still be able to say so in one sentence.
const major = Number(process.versions.node.split('.')[0]);
const argv = process.argv.slice(2);
// The gate's exit code is an answer. It loads none of the rest, and whatever goes wrong anywhere is 1, a no.
const isGate = argv[0] === 'gate' && !['propose', 'approve', 'execute'].includes(argv[1]);
if (isGate) process.exitCode = 1;
if (major < 24) {
  import('node:fs').then(({ existsSync }) => {
    // A checkout has a Node of its own beside this file, an installed package has none.
    const isCheckout = existsSync(new URL('../node_modules/.bin/node', import.meta.url));
    const way = isCheckout ? ' ("npx neuroscript" in this checkout uses its own Node)' : '';
    fail(`neuroscript needs Node 24 or newer; this is Node ${process.versions.node}${way}.`, 2);
  });
} else if (isGate) {
  import('../dist/src/gate/main.js').then((gate) => {
    process.exitCode = gate.main(argv.slice(1)) === 0 ? 0 : 1;
  }, cannotStart);
} else {
  import('../dist/cli.js').then((cli) => cli.main(argv), cannotStart);
}

function cannotStart(error) {
  fail(`neuroscript cannot start: ${error.message} (in a checkout, run "npm run build")`, 70);
}

function fail(message, code) {
  process.stderr.write(`${message}\n`);
  if (isGate) process.stdout.write('[ERROR] Execution controller failure\n');
  else process.exitCode = code;
}
