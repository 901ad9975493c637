/** A picture of a whole page: scrolled and put together part by part, no faster than the browser allows. */
import { encoded, shoot } from './screenshot';
import type { ScreenshotHealth } from './shapes';
import { STAGE, WHERE, type Order, type Shown } from './stage/protocol';

const MOST_PIXELS = 49_000_000; // the server takes 50 million
const LONGEST_SIDE = 32_767; // of a canvas, in Firefox
const MOST_PARTS = 60;
const ATTEMPTS = 3;
const PATIENCE = 5_000;
const SETTLING = 150;

export interface Whole {
  picture: Blob;
  health: ScreenshotHealth;
}

/** Raises Error with words for its reader. The page is as it was before, whatever happens. */
export async function takeWholePage(
  tab: chrome.tabs.Tab,
  progress: (part: number, of: number) => void,
  signal: AbortSignal,
): Promise<Whole> {
  await chrome.scripting.executeScript({ target: { tabId: tab.id! }, files: ['stage.js'] });
  const inner = await countScrollers(tab.id!);
  const stage = new Stage(tab.id!, signal);
  try {
    const first = await stage.ask(WHERE);
    if (first.pinched) throw new Error('the page is zoomed in with two fingers');
    const plan = planned(first);
    const canvas = new OffscreenCanvas(
      Math.round(plan.width * first.dpr),
      Math.round(plan.height * first.dpr),
    );
    const context = canvas.getContext('2d')!;
    let grown = false;
    for (const [at, place] of plan.places.entries()) {
      progress(at + 1, plan.places.length);
      const order = { ...place, upper: at === 0, lower: at === plan.places.length - 1 };
      const { shot, shown } = await steadily(stage, order, tab);
      const scale = shot.width / shown.outer;
      const [width, height] = [shown.view.width, shown.view.height].map((each) => Math.round(each * scale));
      const [x, y] = [shown.x - first.left, shown.y].map((each) => Math.round(each * scale));
      context.drawImage(shot, 0, 0, width!, height!, x!, y!, width!, height!);
      shot.close();
      grown = shown.height > first.height + 1;
    }
    const cut = grown || plan.height < first.height || plan.width < first.width;
    return { picture: await encoded(canvas), health: { extent: 'full_page', cut, inner } };
  } finally {
    stage.close();
  }
}

/** The places to scroll to, line by line, and the size of what they show together. */
export function planned({ left, width: wide, height: high, view, dpr }: Shown) {
  const width = Math.min(wide, Math.floor(LONGEST_SIDE / dpr), 4 * view.width);
  const columns = steps(width, view.width).map((x) => left + x);
  const room = Math.floor(Math.min(LONGEST_SIDE, MOST_PIXELS / Math.ceil(width * dpr)) / dpr);
  const lines = Math.max(1, Math.floor(MOST_PARTS / columns.length));
  const height = Math.min(high, room, lines * (view.height - 1));
  const places = steps(height, view.height).flatMap((y) => columns.map((x) => ({ x, y })));
  return { width, height, places };
}

/** Each step shows a pixel of the one before: where a view has a fraction of a device pixel, no gap is left. */
function steps(length: number, view: number): number[] {
  const found: number[] = [];
  for (let at = 0; at + view < length; at += Math.max(1, view - 1)) found.push(at);
  return [...found, Math.max(0, length - view)];
}

/** One part; taken again where the page moved meanwhile. */
async function steadily(
  stage: Stage,
  order: Order,
  tab: chrome.tabs.Tab,
): Promise<{ shot: ImageBitmap; shown: Shown }> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const shown = await stage.ask(order);
    const picture = await shoot(tab, 'png', SETTLING);
    const after = await stage.ask(WHERE);
    if (after.x === shown.x && after.y === shown.y) return { shot: await createImageBitmap(picture), shown };
  }
  throw new Error('the page doesn’t keep still');
}

/** The extension's end of the port. */
class Stage {
  readonly #port: chrome.runtime.Port;
  #gone = false;

  constructor(
    tab: number,
    private readonly signal: AbortSignal,
  ) {
    this.#port = chrome.tabs.connect(tab, { name: STAGE, frameId: 0 });
    this.#port.onDisconnect.addListener(() => (this.#gone = true));
  }

  ask(order: Order): Promise<Shown> {
    return new Promise((done, fail) => {
      this.signal.throwIfAborted();
      const stop = () => fail(this.signal.reason as Error);
      const gone = () => fail(new Error('the page went away'));
      if (this.#gone) return gone();
      const late = setTimeout(() => fail(new Error('the page doesn’t answer')), PATIENCE);
      const hear = (shown: Shown) => {
        clearTimeout(late);
        this.signal.removeEventListener('abort', stop);
        this.#port.onMessage.removeListener(hear);
        this.#port.onDisconnect.removeListener(gone);
        done(shown);
      };
      this.signal.addEventListener('abort', stop);
      this.#port.onMessage.addListener(hear);
      this.#port.onDisconnect.addListener(gone);
      this.#port.postMessage(order);
    });
  }

  close(): void {
    this.#port.disconnect();
  }
}

/** How many parts of a page scroll by themselves, those in frames too, as far as the extension may look. */
async function countScrollers(tab: number): Promise<number> {
  const counts = await chrome.scripting
    .executeScript({ target: { tabId: tab, allFrames: true }, func: scrollers })
    .catch(() => []);
  return counts.reduce((sum, { result }) => sum + (result ?? 0), 0);
}

/** Runs in the page's frames, by itself. */
function scrollers(): number {
  const root = document.scrollingElement ?? document.documentElement;
  const moves = (each: Element) =>
    (each.clientHeight > 0 && each.scrollHeight > each.clientHeight + 1) ||
    (each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1);
  let count = window !== top && moves(root) ? 1 : 0;
  for (const each of document.querySelectorAll('body *')) {
    if (!moves(each)) continue;
    const { overflowX, overflowY } = getComputedStyle(each);
    if (/auto|scroll/.test(overflowX + overflowY)) count += 1;
  }
  return count;
}
