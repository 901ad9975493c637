/**
 * Who may send messages to the background: the extension's own pages; and its scripts in other pages, but only what
 * their documents recorded.
 */

/**
 * Whether a message comes from a page of the extension. Content scripts have the extension's id, too, but the address
 * of the page that they run in: a page that took over its process can send anything in their name.
 */
export function isOwnPage(sender: chrome.runtime.MessageSender): boolean {
  const own = chrome.runtime.getURL('');
  const isOrigin = sender.origin === undefined || `${sender.origin}/` === own; // Firefox before 126 has none
  const isPage = !!sender.url?.startsWith(own) && (!sender.tab || sender.frameId === 0);
  return sender.id === chrome.runtime.id && isOrigin && isPage;
}

/** Whether a message comes from a script of the extension in a frame of a tab. */
export function isOwnScript(sender: chrome.runtime.MessageSender): boolean {
  return sender.id === chrome.runtime.id && sender.tab?.id !== undefined;
}
