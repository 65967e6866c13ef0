import { defineConfig } from 'vitepress';

export default defineConfig({
  title: 'NeuroScript runtime',
  srcExclude: ['README.md'],
  outDir: 'dist',
  cacheDir: '../.cache/site',
});
