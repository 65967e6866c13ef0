import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { notices } from './notices.ts';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * One script and one style sheet: `neuroscript ui` serves them, and `sessions show --html` puts them into one file, where nothing
 * can be loaded later.
 */
export default defineConfig({
  base: './',
  plugins: [notices()],
  resolve: { alias: { 'd3-transition': here('src/flame/still.ts'), 'd3-scale': here('src/flame/scale.ts') } },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    target: 'es2024',
    outDir: 'dist',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    rolldownOptions: { output: { codeSplitting: false } },
  },
});
