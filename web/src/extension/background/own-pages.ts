/** The tabs with pages of the extension. */
import { appState } from '../storage';

/** Open the page that says how to begin; not if the extension was connected before. */
export async function openStartPage(): Promise<void> {
  if (!(await appState.get('account'))) await chrome.tabs.create({ url: 'start.html' });
}

/** Show the tab where a sign-in was started; the options if it is closed. */
export async function returnToPage(tab: number | undefined): Promise<void> {
  try {
    await chrome.tabs.update(tab!, { active: true });
  } catch {
    await chrome.runtime.openOptionsPage();
  }
}
