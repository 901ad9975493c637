import type { Answers, Message } from '../background';

/** Ask the background, which goes on when this page closes. */
export function tell<M extends Message>(
  message: M,
): Promise<(M['kind'] extends keyof Answers ? Answers[M['kind']] : never) | null> {
  return chrome.runtime.sendMessage(message);
}
