import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { precompress } from './build/precompress.ts';

/** Build of the app. The server serves its files and reads the entry from index.html. */
export default defineConfig({
  plugins: [svelte(), precompress()],
  build: {
    outDir: '../ticketbox/web_dist/app',
    emptyOutDir: true,
    manifest: 'manifest.json', // the server adds module preloads to its pages from this
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the Content Security Policy allows no data: URLs for scripts and styles
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8420', '/signin': 'http://127.0.0.1:8420' } },
});
