/**
 * The scroller: a content script that scrolls a page part by part for a full-page screenshot, and restores it.
 *
 * It restores the page when the extension's end of the port closes, for whatever reason: the screenshot is complete,
 * the user cancelled it, or the extension was stopped.
 */
import { arrangeFixedElements } from './fixed-elements';
import { GET_STATE, PORT_NAME, type Command, type PageState } from './protocol';
import { StyleOverrides } from './style-overrides';

const PAINT_TIMEOUT_MS = 200; // a hidden tab is never painted

declare global {
  var ticketboxScroller: true | undefined;
}

if (!globalThis.ticketboxScroller) {
  globalThis.ticketboxScroller = true;
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name === PORT_NAME) handleCommands(port);
  });
}

function handleCommands(port: chrome.runtime.Port): void {
  const [left, top] = [scrollX, scrollY];
  const overrides = new StyleOverrides();
  let isConnected = true;
  port.onDisconnect.addListener(() => {
    isConnected = false;
    overrides.restoreAll();
    scrollTo({ left, top, behavior: 'instant' });
  });
  for (const root of [document.documentElement, document.body])
    overrides.set(root, { 'scroll-snap-type': 'none', 'overflow-anchor': 'none' });
  port.onMessage.addListener(async (command: Command) => {
    if (command !== GET_STATE) {
      scrollTo({ left: command.x, top: command.y, behavior: 'instant' });
      await waitForPaint();
      if (isConnected) arrangeFixedElements(overrides, command);
      await waitForPaint();
    }
    if (isConnected) port.postMessage(getPageState());
  });
}

function getPageState(): PageState {
  const root = document.scrollingElement ?? document.documentElement;
  const { scrollWidth: width, scrollHeight: height, clientWidth, clientHeight } = root;
  return {
    x: scrollX,
    y: scrollY,
    minX: getComputedStyle(root).direction === 'rtl' ? clientWidth - width : 0,
    width,
    height,
    viewport: { width: clientWidth, height: clientHeight },
    outerWidth: innerWidth,
    devicePixelRatio,
    isPinchZoomed: (visualViewport?.scale ?? 1) !== 1,
  };
}

function waitForPaint(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, PAINT_TIMEOUT_MS);
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  });
}
