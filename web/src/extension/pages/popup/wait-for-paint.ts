/** How long something that isn't shown delays what follows. */
const MAX_MS = 300;

/** Wait until the browser has painted the page and its pictures as they are now, so that long work doesn't delay that. */
export async function waitForPaint(): Promise<void> {
  await Promise.race([showPage(), sleep(MAX_MS)]);
}

async function showPage(): Promise<void> {
  await nextFrame(); // until then, the page has the elements for what was set
  await Promise.allSettled([...document.images].map((image) => image.decode()));
  await nextFrame();
  await sleep(0); // frames are painted after their callbacks
}

const nextFrame = () => new Promise(requestAnimationFrame);
const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
