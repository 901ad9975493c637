import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';
import { RECORDER_SOURCE } from '../src/recorder/channel.ts';
import { compressFiles } from './precompress.ts';

const OUT = '../ticketbox/web_dist/reporter';
/** What a page loads before anybody opens the panel, compressed with gzip. */
const MAX_BYTES = 45_000;

/** Put the components' style sheet into their script, and both scripts where the server finds them. */
export function packReporter(name: string): Plugin {
  return {
    name: 'pack-reporter',
    apply: 'build',
    async writeBundle({ dir }) {
      let text = await readFile(join(dir!, name), 'utf8');
      const sheet = (await readdir(dir!)).find((each) => each.endsWith('.css'));
      if (sheet) {
        const styles = JSON.stringify((await readFile(join(dir!, sheet), 'utf8')).trim());
        text = text.replace(/["'`]__STYLES__["'`]/, () => styles);
      }
      const bytes = gzipSync(text, { level: 9 }).length;
      if (name === 'reporter.js' && bytes > MAX_BYTES)
        throw new Error(`The reporter has ${bytes} bytes compressed; up to ${MAX_BYTES} are allowed.`);
      await mkdir(OUT, { recursive: true });
      await writeFile(join(OUT, name), `${text}//# sourceURL=${RECORDER_SOURCE}\n`);
      await compressFiles(OUT);
    },
  };
}
