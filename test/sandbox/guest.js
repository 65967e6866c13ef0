// Stands in for the interpreter: what a program of its own would never do, so that the rings below it can be tested.
// `globals.do` names the deed. This is raw JavaScript inside the isolate, as if the interpreter had a hole.
// biome-ignore lint/correctness/noUnusedVariables: the worker reads it after it has evaluated this file
var guest = {
  boot(clock, host) {
    const done = (result, extra) =>
      JSON.stringify({
        ok: true,
        phase: 'exec',
        result,
        eventErrors: [],
        error: null,
        fuel: 7,
        peakMemoryBytes: 11,
        toolCalls: 0,
        outputBytes: 0,
        ...extra,
      });
    const failed = (error) => done(null, { ok: false, error });
    const at = { fork: 'f', source: 'src', line: 1, column: 1 };
    let seq = 0;
    const tool = (name, ...args) => JSON.parse(host(JSON.stringify({ t: 'tool', seq: ++seq, name, args, at })));
    const out = (...emits) => host(JSON.stringify({ t: 'out', emits, values: emits, whispers: [] }));
    const ended = (code) => {
      const timeout = code === 2;
      return failed({
        kind: timeout ? 'timeout' : 'quota',
        code: timeout ? 'ERR_TIMEOUT' : 'ERR_QUOTA',
        nsCode: null,
        name: timeout ? 'Timeout' : 'Quota',
        message: 'the clock said so',
        source: 'src',
        line: 3,
        column: 5,
        stack: [],
        limit: timeout ? 'wallMs' : 'cpuMs',
      });
    };
    const deeds = {
      nothing: () => done(null),
      echo: (input) => done(input.globals.value),
      input: (input) => done(input),
      /** A well-behaved endless loop: it asks the clock. */
      loop() {
        for (;;) {
          for (let i = 0; i < 20_000; i++);
          const code = clock();
          if (code !== 0) return ended(code);
        }
      },
      /** One that does not. */
      spin() {
        for (;;);
      },
      wedge() {
        new Array(2 ** 31).fill(0);
        return done(null);
      },
      bigint() {
        let big = 3n;
        for (;;) big *= big;
      },
      hoard() {
        const all = [];
        for (;;) all.push(new Array(1000).fill(all.length));
      },
      keys() {
        const all = {};
        for (let i = 0; ; i++) all[`key ${i}`] = i;
      },
      text() {
        let text = 'x';
        for (;;) text = [...(text + text)].join('');
      },
      buffers() {
        const all = [];
        for (;;) all.push(new Uint8Array(1 << 20).fill(1));
      },
      throws() {
        throw new Error('a hole');
      },
      recursion() {
        const deeper = () => deeper() + 1;
        return done(deeper());
      },
      garbage: () => 'no json',
      number: () => 5,
      call(input) {
        const reply = tool(input.globals.name ?? 'tool.x', input.globals.arg ?? null);
        if (reply.t === 'halt') return failed(reply.error);
        return done(reply);
      },
      calls(input) {
        for (let i = 0; i < input.globals.count; i++) {
          const reply = tool('tool.x', i);
          if (reply.t === 'halt') return failed(reply.error);
        }
        return done(input.globals.count);
      },
      /** Goes on when it is told to halt. */
      stubborn() {
        tool('tool.x');
        for (;;);
      },
      /** Calls again when it is told to halt. */
      insist() {
        for (;;) tool('tool.x');
      },
      emitAndCall() {
        out('one');
        tool('tool.x');
        out('two', 'three');
        return done(null);
      },
      emitAndSpin() {
        out('one');
        for (;;);
      },
      /** Variables by name, until the call is closed. */
      variables() {
        const variables = { a: 1 };
        let reply = tool('tool.x');
        while (reply.t === 'var.get' || reply.t === 'var.set') {
          const { name } = reply;
          let error = null;
          if (reply.t === 'var.set' && name === 'sealed') error = 'sealed is read-only';
          else if (reply.t === 'var.set') variables[name] = reply.value;
          const answer = { t: 'var', found: name in variables, value: variables[name] ?? null, error };
          reply = JSON.parse(host(JSON.stringify(answer)));
        }
        return done({ reply, variables });
      },
      /** Passes whatever text it is given to the host, and tells what came back. */
      raw: (input) => done(input.globals.frames.map((frame) => host(frame))),
      rawValue: () => done([1, null, undefined, {}, [], () => 1].map((value) => host(value))),
      flood() {
        for (let i = 0; i < 250; i++) out(String(i).padEnd(64 * 1024, 'x'));
        return done(null);
      },
      huge: (input) => {
        out('x'.repeat(input.globals.size));
        return done(null);
      },
      hugeResult: (input) => done('x'.repeat(input.globals.size)),
      deep(input) {
        const { levels } = input.globals;
        return done(null).replace('"result":null', `"result":${'['.repeat(levels)}${']'.repeat(levels)}`);
      },
      /** Fails as a program does. */
      fails: (input) =>
        failed({
          ...{ kind: input.globals.kind, code: input.globals.code, nsCode: input.globals.nsCode, name: 'X', message: 'so be it' },
          ...{ source: null, line: null, column: null, stack: [] },
        }),
      /** Keeps what it allocates beyond its end. */
      grow(input) {
        guest.grown = Array.from({ length: input.globals.mb }, () => new Array(1 << 17).fill(1.5));
        return done(null);
      },
      /** Leaves a name in the isolate, and tells the names that were left. */
      mark(input) {
        guest.marks = [...(guest.marks ?? []), input.globals.name];
        return done(null);
      },
      marks: () => done(guest.marks ?? []),
      /** Leaves traces wherever it can. */
      leave() {
        const tried = [
          () => (globalThis.trace = 1),
          () => (Array.prototype.trace = 1),
          () => (Object.prototype.trace = 1),
          () => (JSON.parse = () => 'changed'),
          () => (Math.max = () => 'changed'),
          () => (String.prototype.trim = () => 'changed'),
          () => (clock.trace = 1),
          () => (host.trace = 1),
        ];
        for (const attempt of tried) {
          try {
            attempt();
          } catch {}
        }
        guest.trace = 1;
        return done(null);
      },
      find: () =>
        done([
          typeof globalThis.trace,
          typeof [].trace,
          typeof {}.trace,
          JSON.parse('1'),
          Math.max(1, 2),
          ' a '.trim(),
          typeof clock.trace,
          typeof host.trace,
          typeof guest.trace,
        ]),
      globals: () => done(Object.getOwnPropertyNames(globalThis).sort()),
      /** Every way to something that should not be there; the names of those that are. */
      probe() {
        const constructorOf = (value) => Object.getPrototypeOf(value).constructor;
        const code = (make) => typeof make === 'function' && make('return 1');
        const ways = {
          eval: () => Reflect.get(globalThis, 'eval'),
          Function: () => globalThis.Function,
          'function constructor': () => code((() => 1).constructor),
          'async constructor': () => code((async () => 1).constructor),
          'generator constructor': () => code(function* () {}.constructor),
          'async generator constructor': () => code(async function* () {}.constructor),
          'constructor of a method': () => code([].push.constructor),
          'constructor.constructor': () => code({}.constructor.constructor),
          'constructor of clock': () => code(clock.constructor),
          'constructor of host': () => code(constructorOf(host)),
          'constructor of a class': () => code(constructorOf(class {})),
          'constructor of a bound function': () => code((() => 1).bind().constructor),
          'constructor of a getter': () => code(Object.getOwnPropertyDescriptor(Map.prototype, 'size').get.constructor),
          'reflect construct': () => code(Reflect.getPrototypeOf(Reflect.construct).constructor),
          'constructor of a thrown error': () => {
            try {
              null.x;
            } catch (error) {
              return code(error.constructor.constructor);
            }
          },
          'constructor of a stack overflow': () => {
            const deeper = () => deeper() + 1;
            try {
              deeper();
            } catch (error) {
              return code(error.constructor.constructor);
            }
          },
          'constructor of a host error': () => {
            try {
              host(Symbol('x'));
            } catch (error) {
              return code(error.constructor.constructor);
            }
          },
          'call sites': () => Error.captureStackTrace || Error.prepareStackTrace,
          WebAssembly: () => globalThis.WebAssembly,
          SharedArrayBuffer: () => globalThis.SharedArrayBuffer,
          Atomics: () => globalThis.Atomics,
          Date: () => globalThis.Date,
          Temporal: () => globalThis.Temporal,
          Intl: () => globalThis.Intl,
          WeakRef: () => globalThis.WeakRef,
          FinalizationRegistry: () => globalThis.FinalizationRegistry,
          random: () => Math.random,
          console: () => globalThis.console,
          timers: () => globalThis.setTimeout ?? globalThis.setImmediate ?? globalThis.queueMicrotask,
          process: () => globalThis.process,
          require: () => globalThis.require,
          Buffer: () => globalThis.Buffer,
          fetch: () => globalThis.fetch,
          crypto: () => globalThis.crypto,
          performance: () => globalThis.performance,
          ivm: () => globalThis.ivm ?? globalThis._ivm,
          proto: () => Reflect.get({}, '__proto__'),
          'locale text': () => ''.localeCompare ?? (1).toLocaleString ?? [].toLocaleString ?? 1n.toLocaleString,
          'keys on clock': () => Reflect.ownKeys(clock).filter((key) => key !== 'length' && key !== 'name')[0],
          'keys on host': () => Reflect.ownKeys(host).filter((key) => key !== 'length' && key !== 'name')[0],
          'new clock': () => new clock(),
          'change Array.prototype': () => Reflect.set(Array.prototype, 'map', 1),
          'change Object.prototype': () => Reflect.set(Object.prototype, 'toString', 1),
          'extend Object.prototype': () => Reflect.defineProperty(Object.prototype, 'x', { value: 1 }),
          'change Map.prototype': () => Reflect.set(Map.prototype, 'get', 1),
          'change JSON': () => Reflect.set(JSON, 'parse', 1),
          'change iterators': () => Reflect.set(Object.getPrototypeOf([][Symbol.iterator]()), 'next', 1),
          'new global': () => Reflect.set(globalThis, 'x', 1),
          'change a global': () => Reflect.set(globalThis, 'JSON', 1),
          'prototype of Object.prototype': () => Reflect.setPrototypeOf(Array.prototype, null),
        };
        const found = [];
        for (const name of Object.keys(ways)) {
          try {
            if (ways[name]()) found.push(name);
          } catch {}
        }
        return done(found);
      },
      /** Assignments that frozen prototypes would refuse. */
      assign() {
        const error = new RangeError('x');
        error.name = 'Mine';
        error.message = 'm';
        const plain = {};
        plain.toString = 1;
        plain.constructor = 2;
        plain.hasOwnProperty = 3;
        Reflect.set(plain, '__proto__', 4);
        return done([`${error}`, Object.keys(plain), plain.toString, Object.keys({})]);
      },
      promises() {
        const again = () => Promise.resolve().then(again);
        again();
        return done(null);
      },
    };
    return (text) => {
      const input = JSON.parse(text);
      return deeds[input.globals.do](input);
    };
  },
};
