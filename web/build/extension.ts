import { appendFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { strToU8, zipSync, type Zippable } from 'fflate';
import { build, type Plugin } from 'vite';
import { COLLECTOR } from '../src/extension/channel.ts';
import { manifest, type Edition } from '../src/extension/manifest.ts';

const OUT = '../ticketbox/web_dist/extension';
const EDITIONS: Edition[] = ['chromium', 'chromium-deep', 'firefox'];
/** They run in pages, where no module can be imported: each is one plain script. */
const SCRIPTS = {
  relay: 'relay.ts',
  collect: 'collect/main.ts',
  bodies: 'collect/bodies.ts',
  stage: 'stage/main.ts',
};

/** Build the scripts that run in pages, and put everything into one zip for each edition. */
export function pack(): Plugin {
  return {
    name: 'pack-extension',
    apply: 'build',
    async closeBundle() {
      const root = 'src/extension';
      const built = 'generated/extension';
      for (const [name, entry] of Object.entries(SCRIPTS)) await script(root, entry, name, built);
      await appendFile(join(built, 'collect.js'), `//# sourceURL=${COLLECTOR}\n`);
      await mkdir(OUT, { recursive: true });
      const files = await under(built);
      for (const edition of EDITIONS) {
        const text = `${JSON.stringify(manifest(edition, await version()), null, 2)}\n`;
        await writeFile(join(OUT, `${edition}.zip`), zip({ ...files, 'manifest.json': strToU8(text) }));
      }
    },
  };
}

async function script(root: string, entry: string, name: string, outDir: string): Promise<void> {
  await build({
    configFile: false,
    logLevel: 'warn',
    publicDir: false,
    build: {
      outDir,
      emptyOutDir: false,
      target: 'es2023',
      reportCompressedSize: false,
      lib: { entry: join(root, entry), formats: ['iife'], name: 'ticketbox', fileName: () => `${name}.js` },
      rolldownOptions: { output: { extend: false } },
    },
  });
}

/** The same bytes for the same files, whenever and wherever they are packed. */
function zip(files: Record<string, Uint8Array>): Uint8Array {
  const entries: Zippable = {};
  for (const name of Object.keys(files).sort()) entries[name] = files[name]!;
  return zipSync(entries, { level: 9, mtime: new Date(1980, 0, 1), os: 3, attrs: 0o644 << 16 });
}

async function under(folder: string): Promise<Record<string, Uint8Array>> {
  const files: Record<string, Uint8Array> = {};
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files[relative(folder, path).split(sep).join('/')] = await readFile(path);
  }
  return files;
}

async function version(): Promise<string> {
  const text = await readFile('../ticketbox/__init__.py', 'utf8');
  return /__version__ = "(\d+(?:\.\d+){1,3})/.exec(text)![1]!;
}
