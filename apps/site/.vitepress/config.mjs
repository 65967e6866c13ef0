import { defineConfig } from 'vitepress';
import { neuroscript } from '../grammar.ts';
import { nav, paths, ROOT, SITE, served, sidebar } from '../pages.ts';
import { slugify } from '../slug.ts';
import { home } from './home.mjs';
import { fitTables } from './tables.mjs';
import { tryIt } from './tryit.mjs';

const inMenu = new Set(paths.map(served));

/** Pages outside of `apps/site/` find Vue where the pages inside do. On the server, all of them share the installed one. */
const vueOfSite = {
  name: 'vue-of-site',
  enforce: 'pre',
  resolveId(id, _importer, { ssr }) {
    if (!/^vue(\/server-renderer)?$/.test(id)) return null;
    return ssr ? { id, external: true } : this.resolve(id, `${SITE}index.md`, { skipSelf: true });
  },
};

// Pages keep the paths that they have in the repository, so that one text serves both; only `apps/site/` itself becomes the root.
export default defineConfig({
  title: 'NeuroScript runtime',
  description: 'Runs programs that AI agents write: sandboxed, under limits, with decisions that can be verified.',
  srcDir: ROOT,
  srcExclude: ['apps/lab/**', 'examples/templates/**', 'test/**', 'apps/site/README.md', '**/dist/**', '.cache/**'],
  rewrites: served,
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  transformPageData: ({ relativePath, frontmatter }) => {
    if (relativePath === 'index.md') return { frontmatter: home };
    // Only the pages of the menu have an order; any other would lead to the first of them.
    return inMenu.has(relativePath) ? undefined : { frontmatter: { ...frontmatter, prev: false, next: false } };
  },
  outDir: 'dist',
  cacheDir: '../../.cache/site',
  // `portable.ts` replaces it: the site can be served from any path.
  base: '/__base__/',
  vite: {
    plugins: [vueOfSite],
    resolve: {
      alias: [
        // Links to social media would load their icons from a server; there are none, nor the code for them.
        { find: /^.*\/VPSocialLink\.vue$/, replacement: `${SITE}.vitepress/theme/Nothing.vue` },
        // The first page of the default theme has no main part.
        { find: /^.*\/VPHome\.vue$/, replacement: `${SITE}.vitepress/theme/home.js` },
      ],
    },
  },
  markdown: {
    languages: [neuroscript],
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // The anchors that code hosts give to headings.
    anchor: { slugify },
    config(md) {
      // Two braces are text of NeuroScript and no expression of Vue, and `<name>` is text.
      md.disable('html_inline');
      tryIt(md);
      fitTables(md);
      const text = ({ content }) => md.utils.escapeHtml(content).replaceAll('{{', '&#123;&#123;');
      // An indented block of code scrolls within the page as any other.
      md.renderer.rules.code_block = (...block) => md.renderer.rules.fence(...block);
      md.renderer.rules.text = (tokens, index) => text(tokens[index]);
      md.renderer.rules.code_inline = (tokens, index, _options, _env, self) =>
        `<code${self.renderAttrs(tokens[index])}>${text(tokens[index])}</code>`;
    },
  },
  themeConfig: {
    nav: nav(),
    sidebar: sidebar(),
    outline: [2, 3],
    // The page of a code stands first for it, and a page that explains a thing before the declarations that name it.
    search: {
      provider: 'local',
      options: {
        miniSearch: {
          searchOptions: {
            boostDocument: (id, term) =>
              id.toLowerCase().includes(`/errors/${term}`) ? 5 : id.includes('reference/api/') ? 0.2 : 1,
          },
        },
      },
    },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
