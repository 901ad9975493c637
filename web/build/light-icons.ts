import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const OURS = fileURLToPath(new URL('../src/app/ui/icons/LightIcon.svelte', import.meta.url));

/**
 * Draw Lucide's icons with our component. Lucide's own computes a dozen values and makes a component of each line, which
 * took up to 10 % of the processor time of opening a board.
 */
export function lightIcons(): Plugin {
  let isUsed = false;
  return {
    name: 'light-icons',
    enforce: 'pre',
    apply: 'build',
    resolveId(source, importer) {
      if (source !== '../Icon.svelte' || !importer?.includes('/@lucide/svelte/dist/icons/')) return null;
      isUsed = true;
      return OURS;
    },
    buildEnd(error) {
      if (!error && !isUsed) this.error('the icons of @lucide/svelte import another component now');
    },
  };
}
