import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

const TEXT = /\.(js|css|svg)$/;

/** Put a .br and a .gz beside every text file, so that the server compresses nothing. */
export function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async writeBundle({ dir }) {
      await compressFiles(dir!);
    },
  };
}

/** Put the compressed copies beside every text file of a folder. */
export async function compressFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !TEXT.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const text = await readFile(path);
    const quality = { [constants.BROTLI_PARAM_QUALITY]: 11 };
    await writeFile(`${path}.br`, brotliCompressSync(text, { params: quality }));
    await writeFile(`${path}.gz`, gzipSync(text, { level: 9 }));
  }
}
