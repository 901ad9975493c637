/** Compressed JSON: for uploads, and as text, which the browser's storage can hold. */
import { toJson } from '../../recorder/natives/natives';

export async function gzipJson(value: unknown): Promise<Blob> {
  const stream = new Blob([toJson(value as object)]).stream().pipeThrough(new CompressionStream('gzip'));
  return new Response(stream).blob();
}

export async function gunzipJson(data: Blob): Promise<unknown> {
  return new Response(data.stream().pipeThrough(new DecompressionStream('gzip'))).json();
}

export async function compressJson(value: unknown): Promise<string> {
  const bytes = new Uint8Array(await (await gzipJson(value)).arrayBuffer());
  let text = '';
  // a call has a limited number of arguments
  for (let start = 0; start < bytes.length; start += 8_192)
    text += String.fromCharCode(...bytes.subarray(start, start + 8_192));
  return btoa(text);
}

export async function decompressJson(text: string): Promise<unknown> {
  const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  return gunzipJson(new Blob([bytes]));
}
