/** The content script in which a person points at what is wrong. The popup injects it, and closes. */
import { startPointing } from '../../recorder/pointing/point';
import { showNotice } from '../../recorder/pointing/show-over-page';
import type { PointedMessage } from './pointed-message';

declare global {
  var pointInTicketboxPage: ((masks: string[]) => void) | undefined;
}

globalThis.pointInTicketboxPage = (masks) => void point(masks).catch(() => {});

async function point(masks: string[]): Promise<void> {
  const pointed = await startPointing(masks);
  const message: PointedMessage = { kind: 'pointed', pointed };
  const isOpen: unknown = await chrome.runtime.sendMessage(message);
  if (pointed && !isOpen) showNotice('Noted. Click the button of ticketbox to send the report.');
}
