import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { precompress } from './build/precompress.ts';

/** The app. The server serves what this makes, and finds the entry in index.html. */
export default defineConfig({
  plugins: [svelte(), precompress()],
  build: {
    outDir: '../ticketbox/web_dist/app',
    emptyOutDir: true,
    manifest: 'manifest.json', // from which the server tells the browser early what a page needs
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the content-security policy lets no data address be a script or a style
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8420', '/signin': 'http://127.0.0.1:8420' } },
});
