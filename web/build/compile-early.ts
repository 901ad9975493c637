import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin } from 'vite';

const FIRST = /^(shell|index|\w+Page)$/;

/**
 * Have Chromium compile all functions of what a page starts with while it arrives, beside the main thread, instead of one by
 * one at their first call. The comment must be the first line. https://v8.dev/blog/explicit-compile-hints
 */
export function compileEarly(): Plugin {
  return {
    name: 'compile-early',
    apply: 'build',
    writeBundle: {
      sequential: true, // before the files are compressed; earlier, Vite would put a line above
      async handler({ dir }, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== 'chunk' || !FIRST.test(file.name)) continue;
          const path = join(dir!, file.fileName);
          await writeFile(path, `//# allFunctionsCalledOnLoad\n${await readFile(path, 'utf8')}`);
        }
      },
    },
  };
}
