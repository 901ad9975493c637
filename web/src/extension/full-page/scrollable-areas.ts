/** Count the areas that scroll inside a page, also in its frames where the extension may read them. */
export async function countScrollableAreas(tab: number): Promise<number> {
  const counts = await chrome.scripting
    .executeScript({ target: { tabId: tab, allFrames: true }, func: countInFrame })
    .catch(() => []);
  return counts.reduce((sum, { result }) => sum + (result ?? 0), 0);
}

/** Runs in each frame of the page, so it can't use anything outside this function. */
function countInFrame(): number {
  const root = document.scrollingElement ?? document.documentElement;
  const overflows = (each: Element) =>
    (each.clientHeight > 0 && each.scrollHeight > each.clientHeight + 1) ||
    (each.clientWidth > 0 && each.scrollWidth > each.clientWidth + 1);
  let count = window !== top && overflows(root) ? 1 : 0;
  for (const each of document.querySelectorAll('body *')) {
    if (!overflows(each)) continue;
    const { overflowX, overflowY } = getComputedStyle(each);
    if (/auto|scroll/.test(overflowX + overflowY)) count += 1;
  }
  return count;
}
