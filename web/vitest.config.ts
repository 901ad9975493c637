import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { lightIcons } from './build/light-icons.ts';

/** Unit tests. Components are tested in a browser (tests/e2e). */
export default defineConfig({
  plugins: [lightIcons(), svelte()],
  test: { include: ['tests/**/*.test.ts'], environment: 'node' },
});
