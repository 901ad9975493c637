import { toMatchPattern } from '../connection/server-address';
import { ALL_SITES, getRecordedSites } from '../recording/recorded-sites';

/**
 * Say that the site of the active tab is recorded now, after the browser's prompt closed the popup: on the button until
 * the page loads again, and in the popup, which opens again where the browser allows it.
 */
export async function announceRecording(): Promise<void> {
  const [tab] = await chrome.tabs.query({ active: true, lastFocusedWindow: true });
  if (!tab?.url || !/^https?:/.test(tab.url)) return;
  const sites = await getRecordedSites();
  if (!sites.includes(ALL_SITES) && !sites.includes(toMatchPattern(tab.url))) return;
  await chrome.action.setBadgeText({ tabId: tab.id, text: '●' });
  await chrome.action.setTitle({ tabId: tab.id, title: 'This site is recorded now. Reload the page.' });
  await chrome.action.openPopup({ windowId: tab.windowId }).catch(() => {}); // Firefox requires a click
}
