const MOST_BYTES = 9_500_000;
const SECOND = 1_000;
const TRIES = [
  { type: 'image/png' },
  { type: 'image/jpeg', quality: 0.9 },
  { type: 'image/jpeg', quality: 0.75 },
  { type: 'image/jpeg', quality: 0.5 },
];

let next = 0;

/** The visible part of a tab as a PNG, or as a JPEG where that would be too large; null where the browser refuses. */
export async function picture(tab: chrome.tabs.Tab): Promise<Blob | null> {
  try {
    const shot = await shoot(tab, 'png');
    return shot.size <= MOST_BYTES ? shot : await shoot(tab, 'jpeg');
  } catch {
    return null;
  }
}

/** A picture of a tab, after `wait` ms at least, as soon as the browser allows one. Raises Error. */
export async function shoot(tab: chrome.tabs.Tab, format: 'png' | 'jpeg', wait = 0): Promise<Blob> {
  await pause(Math.max(wait, next - Date.now()));
  const options = { format, ...(format === 'jpeg' ? { quality: 90 } : {}) };
  const address = await chrome.tabs.captureVisibleTab(tab.windowId, options).catch(async (error: Error) => {
    if (!error.message.includes('PER_SECOND')) throw error;
    await pause(SECOND); // somebody opened the popup twice in a second
    return chrome.tabs.captureVisibleTab(tab.windowId, options);
  });
  const { MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND: most } = chrome.tabs as Partial<typeof chrome.tabs>; // Firefox has none
  next = most ? Date.now() + SECOND / most + 20 : 0;
  const [shown] = await chrome.tabs.query({ active: true, windowId: tab.windowId });
  if (shown?.id !== tab.id) throw new Error('another tab came to the front');
  return (await fetch(address)).blob();
}

/** A canvas as the best picture that isn't too large, of its type before where it had one. Raises Error. */
export async function encoded(canvas: OffscreenCanvas, type = 'image/png'): Promise<Blob> {
  for (const each of TRIES) {
    if (type === 'image/jpeg' && each.type !== type) continue;
    const blob = await canvas.convertToBlob(each);
    if (blob.size <= MOST_BYTES) return blob;
  }
  throw new Error('the picture is too large');
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
