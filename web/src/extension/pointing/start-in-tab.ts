import { readPageOptions } from '../recording/page-options';

/** Start pointing in a tab's page. Raises Error where extensions aren't allowed. */
export async function startInTab({ id, url }: chrome.tabs.Tab): Promise<void> {
  const target = { tabId: id! };
  const { masks } = await readPageOptions(url ?? '');
  const [known] = await chrome.scripting.executeScript({
    target,
    func: () => 'pointInTicketboxPage' in globalThis,
  });
  if (!known?.result) await chrome.scripting.executeScript({ target, files: ['page-pointer.js'] });
  await chrome.scripting.executeScript({
    target,
    func: (hidden: string[]) => globalThis.pointInTicketboxPage?.(hidden),
    args: [masks],
  });
}
