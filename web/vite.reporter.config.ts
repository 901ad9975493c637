import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { packReporter } from './build/reporter.ts';

const SCRIPTS: { [mode: string]: string } = { reporter: 'main.ts', 'reporter-panel': 'panel.ts' };

/** The reporter that pages embed. Each mode is one of its two classic scripts. */
export default defineConfig(({ mode }) => ({
  publicDir: false,
  // create elements one by one: a page's policy can forbid innerHTML
  plugins: [
    svelte({ configFile: false, compilerOptions: { runes: true, fragments: 'tree' } }),
    packReporter(`${mode}.js`),
  ],
  build: {
    outDir: `generated/${mode}`,
    emptyOutDir: true,
    target: 'es2023',
    cssTarget: ['chrome123', 'firefox128', 'safari17.5'], // they have light-dark()
    reportCompressedSize: false,
    lib: {
      entry: `src/reporter/${SCRIPTS[mode]}`,
      formats: ['iife' as const],
      name: 'ticketbox',
      fileName: () => `${mode}.js`,
    },
    rolldownOptions: { output: { extend: false } },
  },
}));
