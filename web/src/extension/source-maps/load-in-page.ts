/**
 * Loading a script or a map in the page. The browser's cache has the script that the page runs, and the page can reach
 * nothing else in this way than without the extension. The mark keeps these loads out of later captures; servers don't see it.
 */
import { OWN_LOAD_MARK } from '../../recorder/channel';

/** What a load found: the address of a script's map, or the text of a map and its size; or the limit that it exceeded. */
export type LoadResult =
  { map: string | null } | { text: string; bytes: number } | { problem: 'limit' | 'missing' };

/** Load a script in the top frame of a tab, and find the address of its map. Raises Error without access to the tab. */
export function findMapAddress(
  tab: number,
  origin: string,
  script: string,
  limits: Limits,
): Promise<LoadResult> {
  return loadInTab(tab, origin, script, true, limits);
}

/** Load a map in the top frame of a tab. Raises Error without access to the tab. */
export function loadMap(tab: number, origin: string, map: string, limits: Limits): Promise<LoadResult> {
  return loadInTab(tab, origin, map, false, limits);
}

export interface Limits {
  bytes: number;
  milliseconds: number;
}

async function loadInTab(
  tab: number,
  origin: string,
  address: string,
  isScript: boolean,
  { bytes, milliseconds }: Limits,
): Promise<LoadResult> {
  if (milliseconds <= 0 || bytes <= 0) return { problem: 'limit' };
  const marked = `${address.split('#', 1)[0]}#${OWN_LOAD_MARK}`;
  const loading = chrome.scripting.executeScript({
    target: { tabId: tab },
    func: loadText,
    args: [marked, origin, isScript, bytes, milliseconds],
  });
  // a page that hangs doesn't answer
  const timeout = new Promise<null>((resolve) => setTimeout(() => resolve(null), milliseconds));
  const results = await Promise.race([loading, timeout]);
  return results
    ? ((results[0]?.result as LoadResult | undefined) ?? { problem: 'missing' })
    : { problem: 'limit' };
}

/** Runs in the page's frame, in the extension's world, so it uses nothing from outside. */
async function loadText(
  address: string,
  origin: string,
  isScript: boolean,
  bytes: number,
  milliseconds: number,
): Promise<LoadResult> {
  if (location.origin !== origin) return { problem: 'missing' };
  try {
    const response = await fetch(address, {
      credentials: 'same-origin',
      redirect: 'error',
      cache: isScript ? 'force-cache' : 'default',
      signal: AbortSignal.timeout(milliseconds),
    });
    const { headers, body } = response;
    const isOther = isScript && !/javascript|ecmascript/.test(headers.get('content-type') ?? '');
    const declared = isScript && (headers.get('sourcemap') ?? headers.get('x-sourcemap'));
    if (!response.ok || !body || isOther || declared) {
      await body?.cancel();
      return !response.ok || !body || isOther ? { problem: 'missing' } : { map: declared || null };
    }
    const reader = body.getReader();
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      size += part.value.length;
      if (size > bytes) {
        await reader.cancel();
        return { problem: 'limit' };
      }
      chunks.push(part.value);
    }
    const text = await new Blob(chunks).text();
    if (!isScript) return { text, bytes: size };
    // ECMA-426, "Extracting source map URLs", without parsing: a comment that only other comments follow
    const end = text.trimEnd();
    const start = Math.max(end.lastIndexOf('# sourceMappingURL='), end.lastIndexOf('@ sourceMappingURL='));
    const isComment = start >= 2 && ['//', '/*'].includes(end.slice(start - 2, start));
    const found = end.slice(start + 19);
    const length = found.search(/\s|\*\/|["'`]/);
    const rest = length < 0 ? '' : found.slice(length).trimStart();
    if (!isComment || (rest && !/^(?:\*\/\s*$|\/\/[^\n]*$)/.test(rest))) return { map: null };
    return { map: (length < 0 ? found : found.slice(0, length)) || null };
  } catch (error) {
    const isTimeout = (error as Partial<DOMException> | null)?.name === 'TimeoutError';
    return { problem: isTimeout ? 'limit' : 'missing' };
  }
}
