import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { packExtension } from './build/extension.ts';

const SOURCE = 'src/extension';

/** The browser extension. This builds its pages and background; `packExtension` builds the other scripts and the zips. */
export default defineConfig({
  root: SOURCE,
  base: './',
  publicDir: 'icons',
  // create elements one by one, because Mozilla's linter rejects innerHTML
  plugins: [
    svelte({ configFile: false, compilerOptions: { runes: true, fragments: 'tree' } }),
    packExtension(),
  ],
  build: {
    outDir: '../../generated/extension',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['popup.html', 'options.html', 'editor.html', 'start.html', 'background/background.ts'].map(
        (name) => `${SOURCE}/${name}`,
      ),
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: 'parts/[name].js',
        assetFileNames: 'parts/[name][extname]',
      },
    },
  },
});
