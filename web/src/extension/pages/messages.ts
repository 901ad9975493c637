import type { Message } from '../background';
import type { Outcome } from '../outbox';

/** Ask the background, which goes on when this page closes. */
export function tell(message: Message): Promise<Outcome | null> {
  return chrome.runtime.sendMessage(message);
}
