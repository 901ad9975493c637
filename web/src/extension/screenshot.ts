const MOST_BYTES = 9_500_000;

/** The visible part of a tab as a PNG, or as a JPEG where that would be too large; null where the browser refuses. */
export async function picture(tab: chrome.tabs.Tab): Promise<Blob | null> {
  try {
    const shot = await visible(tab.windowId, 'png');
    return shot.size <= MOST_BYTES ? shot : await visible(tab.windowId, 'jpeg');
  } catch {
    return null;
  }
}

async function visible(window: number, format: 'png' | 'jpeg'): Promise<Blob> {
  const address = await chrome.tabs.captureVisibleTab(window, {
    format,
    ...(format === 'jpeg' ? { quality: 90 } : {}),
  });
  return (await fetch(address)).blob();
}
