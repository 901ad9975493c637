import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { strToU8, zipSync, type Zippable } from 'fflate';
import { build, type Plugin } from 'vite';
import { createManifest, type Edition } from '../src/extension/manifest.ts';
import { RECORDER_SOURCE } from '../src/recorder/channel.ts';
import { keepStylePolicy } from './rrweb-styles.ts';

const OUT = '../ticketbox/web_dist/extension';
const EDITIONS: Edition[] = ['chromium', 'firefox'];
/** Scripts that run in pages, where modules can't be imported: each is bundled into one classic script. */
const PAGE_SCRIPTS = {
  recorder: 'src/recorder/main.ts',
  'enable-bodies': 'src/recorder/enable-bodies.ts',
  replay: 'src/recorder/replay/main.ts',
  'record-reader': 'src/extension/recording/record-reader.ts',
  'page-pointer': 'src/extension/pointing/page-pointer.ts',
  scroller: 'src/extension/full-page/scroller.ts',
};

/** Build the scripts that run in pages, and pack everything into one zip per edition. */
export function packExtension(): Plugin {
  return {
    name: 'pack-extension',
    apply: 'build',
    async closeBundle() {
      const outDir = 'generated/extension';
      for (const [name, entry] of Object.entries(PAGE_SCRIPTS)) await buildScript(entry, name, outDir);
      for (const name of ['recorder.js', 'replay.js'])
        await appendFile(join(outDir, name), `//# sourceURL=${RECORDER_SOURCE}\n`);
      await mkdir(OUT, { recursive: true });
      const files = await readFiles(outDir);
      for (const edition of EDITIONS) {
        const manifest = `${JSON.stringify(createManifest(edition, await readVersion()), null, 2)}\n`;
        const archive = createZip({ ...files, 'manifest.json': strToU8(manifest) });
        await writeFile(join(OUT, `${edition}.zip`), archive);
      }
    },
  };
}

async function buildScript(entry: string, name: string, outDir: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    plugins: [keepStylePolicy()],
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2023',
      reportCompressedSize: false,
      lib: { entry, formats: ['iife'], name: 'ticketbox', fileName: () => `${name}.js` },
      rolldownOptions: { output: { extend: false } },
    },
  });
}

/** A zip with the same bytes for the same files, wherever it is built. */
function createZip(files: Record<string, Uint8Array>): Uint8Array {
  const entries: Zippable = {};
  for (const name of Object.keys(files).sort()) entries[name] = files[name]!;
  return zipSync(entries, { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 });
}

async function readFiles(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).split(sep).join('/')] = await readFile(path);
  }
  return files;
}

async function readVersion(): Promise<string> {
  const text = await readFile('../ticketbox/__init__.py', 'utf8');
  return /__version__ = "(\d+(?:\.\d+){1,3})/.exec(text)![1]!;
}
