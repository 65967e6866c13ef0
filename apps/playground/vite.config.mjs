import { defineConfig } from 'vite';

/** Static files that work in any folder of any server. */
export default defineConfig({
  base: './',
  build: { target: 'es2024', outDir: 'dist', emptyOutDir: true, modulePreload: { polyfill: false } },
  worker: { format: 'es' },
});
