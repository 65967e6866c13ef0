#!/usr/bin/env node
// The command of the runtime beside it. The other packages that it may need are dependencies of this one.
import(new URL('./bin/neuroscript.js', import.meta.resolve('neuroscript-runtime/package.json')).href);
