import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';
import { lightIcons } from './build/light-icons.ts';
import { precompress } from './build/precompress.ts';
import { preloadFont } from './build/preload-font.ts';

/** What every first page needs. As one file, it is a fifth smaller than as one for each module that others share. */
const SHELL = [
  /\/src\/app\/core\//,
  /\/src\/app\/(tickets\/(list\/filters|views\/display)|ui\/overlays\/Picker)\./,
  /rolldown\/runtime/,
  /\/src\/app\/ui\/(Lazy|feedback\/(EmptyState|ErrorState|LoadingIndicator|Toasts|after-paint))/,
  /\/src\/app\/ui\/(display\/(Avatar|Chip|LiveDot|PageHeader|Segments|format)|icons\/(ColumnIcon|ProjectIcon)|time\/)/,
  /\/src\/app\/companies\/labels\/(Label|LabelDot|company-labels)\./,
  /\/src\/app\/tickets\/(header\/neighbours|links\/BlockedChip|properties\/(EvidenceChips|evidence|due\/due-dates))/,
  /\/src\/shared\/ui\/(Button|PriorityIcon)/,
  /\/icons\/(arrow-up-down|bot|calendar-days|camera|check|circle(-alert|-check|-minus|-x)?|download|ellipsis|list-(checks|filter)|message-square|plus|search|sliders-horizontal|tag|x)\./,
];

/**
 * Build of the app. The server serves its files and reads the entry from index.html. It writes the path of its public URL
 * into the pages; scripts and style sheets find other files by their own addresses.
 */
export default defineConfig({
  plugins: [lightIcons(), svelte(), preloadFont(), precompress()],
  experimental: {
    renderBuiltUrl: (_, { hostType }) => (hostType === 'html' ? undefined : { relative: true }),
  },
  build: {
    outDir: '../ticketbox/web_dist/app',
    emptyOutDir: true,
    manifest: 'manifest.json', // the server adds module preloads to its pages from this
    target: 'es2023',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0, // the Content Security Policy allows no data: URLs for scripts and styles
    reportCompressedSize: false,
    rolldownOptions: {
      input: ['index.html', 'replay.html'],
      output: {
        codeSplitting: {
          groups: [
            { name: 'shell', priority: 1, test: (id) => SHELL.some((each) => each.test(id)) },
            { name: 'icons', test: /\/@lucide\/svelte\/dist\/icons\//, minShareCount: 2 },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:8420', '/signin': 'http://127.0.0.1:8420' } },
});
