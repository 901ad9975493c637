import { sendToBackground, SHOWS_RESULT } from '../../background/messages';
import type { SendResult } from '../../storage';

/** Have the background send a report of the outbox; the popup shows what becomes of it. */
export async function sendFromPopup(id: string): Promise<SendResult> {
  const port = chrome.runtime.connect({ name: SHOWS_RESULT });
  const answer = await sendToBackground({ kind: 'send-capture', id }).catch(() => null);
  port.disconnect();
  return answer ?? { problem: 'The extension was stopped.', willRetry: true };
}
