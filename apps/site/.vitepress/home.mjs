// The first page. VitePress reads this from the front matter of a page, which the formatter of the repository does not know.
export const home = {
  layout: 'home',
  hero: {
    name: 'NeuroScript runtime',
    text: 'Let agents act by writing programs',
    tagline: 'Runs each program in a sandbox under limits, and decides verifiably what happens next.',
    actions: [
      { theme: 'brand', text: 'Ten-minute tutorial', link: '/docs/tutorial' },
      { theme: 'alt', text: 'Embed it', link: '/docs/embedding' },
      { theme: 'alt', text: 'Comparison with others', link: '/docs/comparison' },
    ],
  },
  features: [
    {
      title: 'Contained',
      details:
        'A fresh V8 isolate for each program, in a worker process that the host can kill, with limits on fuel, CPU time, elapsed time, memory, output and tool calls.',
      link: '/docs/security',
      linkText: 'Security',
    },
    {
      title: 'Denied by default',
      details: 'A program acts through tools alone, and a policy names the tools that it may call, and how often.',
      link: '/docs/policy',
      linkText: 'Policy',
    },
    {
      title: 'Verifiable',
      details:
        'A session goes on only with a token that the host signed with Ed25519, for one turn, once. Anybody can check the log of the decisions.',
      link: '/docs/loop',
      linkText: 'Sessions',
    },
    {
      title: 'Repeatable',
      details:
        'Every turn is recorded with its input and its calls. A replay gives the same bytes, and a trial changes one answer.',
      link: '/docs/replay',
      linkText: 'Replay',
    },
  ],
};
