/** Reading zip files of Playwright, with counted sizes. */
import { readFile, stat } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

const MAX_ARCHIVE = 200 * 1024 * 1024;
const MAX_FILE = 256 * 1024 * 1024;
const END = 0x06054b50;
const ENTRY = 0x02014b50;

/** Open a zip file; return its file names, and a function that reads one. Throws if it is damaged or too large. */
export async function openArchive(path) {
  if ((await stat(path)).size > MAX_ARCHIVE) throw new Error('the trace is too large to be read');
  const data = await readFile(path);
  const files = new Map();
  let end = data.length - 22;
  while (end >= 0 && data.readUInt32LE(end) !== END) end -= 1;
  if (end < 0) throw new Error('the trace is torn');
  let at = data.readUInt32LE(end + 16);
  for (let count = data.readUInt16LE(end + 10); count > 0; count -= 1) {
    if (data.readUInt32LE(at) !== ENTRY) throw new Error('the trace is damaged');
    const nameLength = data.readUInt16LE(at + 28);
    files.set(data.toString('utf8', at + 46, at + 46 + nameLength), {
      method: data.readUInt16LE(at + 10),
      size: data.readUInt32LE(at + 20),
      start: data.readUInt32LE(at + 42),
    });
    at += 46 + nameLength + data.readUInt16LE(at + 30) + data.readUInt16LE(at + 32);
  }
  const read = (name) => {
    const file = files.get(name);
    if (!file) return undefined;
    const start = file.start + 30 + data.readUInt16LE(file.start + 26) + data.readUInt16LE(file.start + 28);
    const packed = data.subarray(start, start + file.size);
    return file.method === 0 ? packed : inflateRawSync(packed, { maxOutputLength: MAX_FILE });
  };
  return { names: [...files.keys()], read };
}
