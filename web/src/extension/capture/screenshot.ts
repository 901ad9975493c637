const MAX_BYTES = 9_500_000;
const SECOND_MS = 1_000;
const ENCODINGS = [
  { type: 'image/png' },
  { type: 'image/jpeg', quality: 0.9 },
  { type: 'image/jpeg', quality: 0.75 },
  { type: 'image/jpeg', quality: 0.5 },
];

/** When the browser allows the next screenshot; epoch milliseconds. */
let nextAllowedAt = 0;

/** The visible part of a tab as a PNG, or as a JPEG if that would be too large; null if the browser refuses. */
export async function captureScreenshot(tab: chrome.tabs.Tab): Promise<Blob | null> {
  try {
    const screenshot = await captureVisibleTab(tab, 'png');
    return screenshot.size <= MAX_BYTES ? screenshot : await captureVisibleTab(tab, 'jpeg');
  } catch {
    return null;
  }
}

/** A screenshot of a tab, after at least `delay` milliseconds, as soon as the browser allows it. Raises Error. */
export async function captureVisibleTab(
  tab: chrome.tabs.Tab,
  format: 'png' | 'jpeg',
  delay = 0,
): Promise<Blob> {
  const wait = Math.max(delay, nextAllowedAt - Date.now());
  if (wait > 0) await sleep(wait);
  const options = { format, ...(format === 'jpeg' ? { quality: 90 } : {}) };
  const dataUrl = await chrome.tabs.captureVisibleTab(tab.windowId, options).catch(async (error: Error) => {
    if (!error.message.includes('PER_SECOND')) throw error;
    await sleep(SECOND_MS); // the popup was opened twice within a second
    return chrome.tabs.captureVisibleTab(tab.windowId, options);
  });
  // Firefox has no such limit
  const { MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND: maxPerSecond } = chrome.tabs as Partial<
    typeof chrome.tabs
  >;
  nextAllowedAt = maxPerSecond ? Date.now() + SECOND_MS / maxPerSecond + 20 : 0;
  const [activeTab] = await chrome.tabs.query({ active: true, windowId: tab.windowId });
  if (activeTab?.id !== tab.id) throw new Error('You switched to another tab.');
  return (await fetch(dataUrl)).blob();
}

/** Encode a canvas in the best quality that isn't too large; a JPEG stays a JPEG. Raises Error. */
export async function encodeCanvas(canvas: OffscreenCanvas, originalType = 'image/png'): Promise<Blob> {
  for (const encoding of ENCODINGS) {
    if (originalType === 'image/jpeg' && encoding.type !== originalType) continue;
    const blob = await canvas.convertToBlob(encoding);
    if (blob.size <= MAX_BYTES) return blob;
  }
  throw new Error('The screenshot is too large.');
}

function sleep(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
