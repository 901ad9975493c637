/**
 * The stage: scrolls a page part by part for a picture of all of it, and puts everything back.
 *
 * It does so when the extension's end of the port is gone, whatever made that happen: the picture is done, the person
 * cancelled or closed the popup, the extension was stopped.
 */
import { Changes } from './changes';
import { placeCovers } from './covers';
import { STAGE, WHERE, type Order, type Shown } from './protocol';

const PATIENCE = 200; // a tab that is hidden paints nothing

declare global {
  var ticketboxStage: true | undefined;
}

if (!globalThis.ticketboxStage) {
  globalThis.ticketboxStage = true;
  chrome.runtime.onConnect.addListener((port) => {
    if (port.name === STAGE) perform(port);
  });
}

function perform(port: chrome.runtime.Port): void {
  const [left, top] = [scrollX, scrollY];
  const changes = new Changes();
  let open = true;
  port.onDisconnect.addListener(() => {
    open = false;
    changes.undo();
    scrollTo({ left, top, behavior: 'instant' });
  });
  for (const root of [document.documentElement, document.body])
    changes.set(root, { 'scroll-snap-type': 'none', 'overflow-anchor': 'none' });
  port.onMessage.addListener(async (order: Order) => {
    if (order !== WHERE) {
      scrollTo({ left: order.x, top: order.y, behavior: 'instant' });
      await painted();
      if (open) placeCovers(changes, order);
      await painted();
    }
    if (open) port.postMessage(shown());
  });
}

function shown(): Shown {
  const root = document.scrollingElement ?? document.documentElement;
  const { scrollWidth: width, scrollHeight: height, clientWidth, clientHeight } = root;
  return {
    x: scrollX,
    y: scrollY,
    left: getComputedStyle(root).direction === 'rtl' ? clientWidth - width : 0,
    width,
    height,
    view: { width: clientWidth, height: clientHeight },
    outer: innerWidth,
    dpr: devicePixelRatio,
    pinched: (visualViewport?.scale ?? 1) !== 1,
  };
}

function painted(): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, PATIENCE);
    requestAnimationFrame(() => requestAnimationFrame(() => done()));
  });
}
