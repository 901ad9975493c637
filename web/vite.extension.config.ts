import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { pack } from './build/extension.ts';

const SOURCE = 'src/extension';

/** The browser extension: its pages and its background here, the scripts that run in pages and the zips in `pack`. */
export default defineConfig({
  root: SOURCE,
  base: './',
  publicDir: 'icons',
  // Mozilla's linter lets no innerHTML pass: elements are made one by one
  plugins: [svelte({ configFile: false, compilerOptions: { runes: true, fragments: 'tree' } }), pack()],
  build: {
    outDir: '../../generated/extension',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: false,
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['popup.html', 'options.html', 'editor.html', 'background.ts'].map(
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
