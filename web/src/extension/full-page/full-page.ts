/** A screenshot of a full page: scrolled and composed part by part, no faster than the browser allows. */
import type { ScreenshotHealth } from '../../recorder/capture-types';
import { captureVisibleTab, encodeCanvas } from '../capture/screenshot';
import { planParts } from './plan';
import { GET_STATE, type PageState, type Part } from './protocol';
import { countScrollableAreas } from './scrollable-areas';
import { ScrollerConnection } from './scroller-connection';

const MAX_ATTEMPTS = 3;
const SETTLE_MS = 150;

export interface FullPageScreenshot {
  screenshot: Blob;
  health: ScreenshotHealth;
}

/** Capture a full page. Restores the page even if it fails. Raises Error with a message for the user. */
export async function captureFullPage(
  tab: chrome.tabs.Tab,
  onProgress: (part: number, count: number) => void,
  signal: AbortSignal,
): Promise<FullPageScreenshot> {
  await chrome.scripting.executeScript({ target: { tabId: tab.id! }, files: ['scroller.js'] });
  const scrollableAreas = await countScrollableAreas(tab.id!);
  const scroller = new ScrollerConnection(tab.id!, signal);
  try {
    const initial = await scroller.send(GET_STATE);
    if (initial.isPinchZoomed) throw new Error('The page is zoomed with two fingers. Reset the zoom first.');
    const plan = planParts(initial);
    const canvas = new OffscreenCanvas(
      Math.round(plan.width * initial.devicePixelRatio),
      Math.round(plan.height * initial.devicePixelRatio),
    );
    const context = canvas.getContext('2d')!;
    let hasGrown = false;
    for (const [index, position] of plan.positions.entries()) {
      onProgress(index + 1, plan.positions.length);
      const isLast = index === plan.positions.length - 1;
      const part = { ...position, showsTopFixed: index === 0, showsBottomFixed: isLast };
      const { image, state } = await capturePart(scroller, part, tab);
      const scale = image.width / state.outerWidth;
      const [width, height] = [state.viewport.width, state.viewport.height].map((each) =>
        Math.round(each * scale),
      );
      const [x, y] = [state.x - initial.minX, state.y].map((each) => Math.round(each * scale));
      context.drawImage(image, 0, 0, width!, height!, x!, y!, width!, height!);
      image.close();
      hasGrown = state.height > initial.height + 1;
    }
    const isCut = hasGrown || plan.height < initial.height || plan.width < initial.width;
    return {
      screenshot: await encodeCanvas(canvas),
      health: { extent: 'full_page', cut: isCut, inner: scrollableAreas },
    };
  } finally {
    scroller.close();
  }
}

/** Capture one part; again if the page scrolled meanwhile. */
async function capturePart(
  scroller: ScrollerConnection,
  part: Part,
  tab: chrome.tabs.Tab,
): Promise<{ image: ImageBitmap; state: PageState }> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const state = await scroller.send(part);
    const screenshot = await captureVisibleTab(tab, 'png', SETTLE_MS);
    const after = await scroller.send(GET_STATE);
    if (after.x === state.x && after.y === state.y)
      return { image: await createImageBitmap(screenshot), state };
  }
  throw new Error('The page keeps scrolling.');
}
