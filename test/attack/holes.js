// Raw JavaScript inside the isolate, as if the interpreter had a hole that lets a program run anything it likes there.
// `globals.do` names the attack. What it finds goes back as the result; what it cannot do must not matter.
// biome-ignore lint/correctness/noUnusedVariables: the worker reads it after it has evaluated this file
var guest = {
  boot(clock, host) {
    const done = (result) =>
      JSON.stringify({
        ok: true,
        phase: 'exec',
        result,
        eventErrors: [],
        error: null,
        fuel: 1,
        peakMemoryBytes: 1,
        toolCalls: 0,
        outputBytes: 0,
      });
    const at = { fork: 'f', source: 'src', line: 1, column: 1 };
    const tool = (seq, name, args) => host(JSON.stringify({ t: 'tool', seq, name, args, at }));
    const tried = (attempts) => {
      const worked = [];
      for (const [name, attempt] of Object.entries(attempts)) {
        try {
          if (attempt()) worked.push(name);
        } catch {}
      }
      return done(worked);
    };
    const attacks = {
      echo: (input) => done(input.globals.value),
      /** What the steps of an attack say: see `Step` in attacks.ts. */
      steps(input) {
        for (const { frame, fill, times = 1, spin, end } of input.globals.steps) {
          const text = typeof frame === 'string' ? frame : JSON.stringify(frame);
          const full = text?.replaceAll('$fill', () => (fill === undefined ? '' : fill[0].repeat(fill[1])));
          for (let n = 1; frame !== undefined && n <= times; n++) host(full.replaceAll('"$n"', n));
          if (spin) attacks.endless();
          if (end) return typeof end === 'string' ? end : JSON.stringify(end);
        }
        return done(null);
      },
      // The rows of the matrix of known attacks on isolates, one by one.
      fill: () => done(new Array(1e9).fill(0).length),
      keys() {
        const all = {};
        for (let i = 0; i < 1e8; i++) all[`key ${i}`] = i;
      },
      duplicates() {
        let all = new Array(1e6).fill(1.5);
        for (let i = 0; i < 20; i++) all = all.concat(all);
      },
      arrays() {
        const all = [];
        for (;;) all.push([1, 2, 3]);
      },
      objects() {
        const all = [];
        for (;;) all.push({ a: all.length });
      },
      maps() {
        const all = new Map();
        for (let i = 0; ; i++) all.set(i, { i });
      },
      text() {
        const all = [];
        for (;;) all.push('x'.repeat(1e6) + all.length);
      },
      json() {
        let text = '[1]';
        for (;;) text = JSON.stringify([JSON.parse(text), JSON.parse(text)]);
      },
      bigint() {
        let big = 3n;
        for (;;) big *= big;
      },
      brackets() {
        return done(JSON.parse('['.repeat(5e6)));
      },
      wasm: () => tried({ wasm: () => new globalThis.WebAssembly.Memory({ initial: 4096 }) }),
      regex: () => done(/^(a+)+$/.test(`${'a'.repeat(60)}!`)),
      endless() {
        for (;;);
      },
      microtasks() {
        const again = () => Promise.resolve().then(again);
        again();
        for (;;);
      },
      sort: () =>
        [1, 2].sort(() => {
          for (;;);
        }),
      finally() {
        for (;;) {
          try {
            throw 1;
          } finally {
          }
        }
      },
      recursion() {
        const deeper = () => [deeper()];
        try {
          deeper();
        } catch {}
        return attacks.recursion();
      },
      async: () => {
        (async () => {
          for (;;) await null;
        })();
        for (;;);
      },
      getter: () => done(JSON.parse('{"a":1}', (_key, value) => attacks.endless(value))),
      // More ways to wedge V8 or to outgrow it.
      typed() {
        const all = [];
        for (;;) all.push(new Float64Array(1 << 20).fill(1));
      },
      holes() {
        const list = [];
        list[2 ** 32 - 2] = 1;
        return done(list.reverse().length);
      },
      join: () => done(new Array(2 ** 28).fill('xx').join('yy').length),
      pad: () => done('x'.padEnd(2 ** 29 - 100, 'ab').split('').length),
      symbols() {
        const all = new Set();
        for (;;) all.add(Symbol(all.size));
      },
      promises() {
        const all = [];
        for (;;) all.push(new Promise(() => {}));
      },
      closures() {
        let last = () => 0;
        for (;;) {
          const before = last;
          last = () => before;
        }
      },
      classes() {
        const all = [];
        for (;;) all.push(class {});
      },
      normalize: () => done('\ufdfa'.repeat(2e7).normalize('NFKD').length),
      replace: () => done('a'.repeat(1e7).replace(/a/g, '$`').length),
      flat() {
        let list = [1];
        for (let i = 0; i < 40; i++) list = [list, list];
        return done(list.flat(Number.POSITIVE_INFINITY).length);
      },
      // The bridge.
      calls() {
        for (let seq = 1; ; seq++) tool(seq, 'tool.x', []);
      },
      backwards() {
        tool(5, 'tool.x', []);
        tool(5, 'tool.x', []);
        return done('both');
      },
      negative: () => done(tool(-1, 'tool.x', [])),
      notCounted: () => done(tool(1.5, 'tool.x', [])),
      longName: () => done(tool(1, 'x'.repeat(5e6), []).length),
      longSource: () => {
        host(JSON.stringify({ t: 'tool', seq: 1, name: 'tool.x', args: [], at: { ...at, source: 's'.repeat(5e6), line: 1e15 } }));
        return done('sent');
      },
      deepArgument: () => done(host(`{"t":"tool","seq":1,"name":"tool.x","args":[${'['.repeat(1e6)}`).length),
      outputFlood() {
        const frame = JSON.stringify({ t: 'out', emits: ['x'.repeat(60_000)], values: [null], whispers: [] });
        for (;;) host(frame);
      },
      clockFlood() {
        for (;;) clock();
      },
      liar: () => done(null).replace('"fuel":1', '"fuel":-1e308').replace('"ok":true', '"ok":true,"__proto__":{"polluted":1}'),
      overflow: () => done(null).replace('"fuel":1', '"fuel":1e999'),
      hugeError: () =>
        JSON.stringify({
          ...JSON.parse(done(null)),
          ok: false,
          error: {
            kind: 'quota',
            code: 'ERR_QUOTA',
            nsCode: null,
            name: 'x'.repeat(1e7),
            message: 'm',
            source: null,
            line: 1,
            column: 1,
            stack: [],
          },
        }),
      polluted: () =>
        done(null).replace('"result":null', '"result":{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}}}'),
      // Objects that do things when they are touched: only texts may go through, so none of them is ever touched.
      objects2: () =>
        tried({
          'an object with toString': () => host({ toString: () => '{"t":"result"}' }) !== undefined && false,
          'a proxy': () => host(new Proxy({}, { get: () => globalThis })) === globalThis,
          'a getter': () =>
            host({
              get t() {
                return attacks.endless;
              },
            }) === 1,
          'apply on the port': () => host.apply?.(globalThis, ['x']) === globalThis,
          'a constructor of the port': () => host.constructor?.constructor?.('return this')(),
          'the prototype of the port': () =>
            Object.getPrototypeOf(host) !== Function.prototype && Object.getPrototypeOf(host)?.constructor?.('return process')(),
        }),
      escape: () =>
        tried({
          'constructor.constructor': () => [].constructor.constructor('return this')(),
          'error constructor': () => new Error('x').constructor.constructor('return process')(),
          'stack frames': () => {
            Error.prepareStackTrace = (_, frames) => frames;
            return new Error('x').stack?.[0]?.getThis?.();
          },
          import: () =>
            Reflect.get(globalThis, 'import') ?? Reflect.get(globalThis, 'require') ?? Reflect.get(globalThis, 'process'),
          'prototype of everything': () => {
            Object.prototype.polluted = 1;
            return {}.polluted === 1;
          },
          'prototype by way of JSON': () => JSON.parse('{"__proto__":{"polluted":1}}').polluted === 1,
          setPrototypeOf: () => Object.setPrototypeOf(Object.prototype, { polluted: 1 }),
          'iterator of arrays': () => {
            Array.prototype[Symbol.iterator] = function* () {};
            return [...[1]].length === 0;
          },
          'then on promises': () => {
            // biome-ignore lint/suspicious/noThenProperty: that is the attack
            Promise.prototype.then = () => 1;
            return Promise.resolve().then() === 1;
          },
          toJSON: () => {
            Object.prototype.toJSON = () => 1;
            return JSON.stringify({}) === '1';
          },
        }),
    };
    return (text) => {
      const input = JSON.parse(text);
      return attacks[input.globals.do](input);
    };
  },
};
