/** The messages from the extension's pages to its background, which keeps running when a page closes. */
import type { FullPageProgress } from '../full-page/capture-updates';
import type { Observation } from '../observed-requests/requests-store';
import type { ResolvedStacks } from '../source-maps/resolve-stacks';
import type { SendResult } from '../storage';
import type { TabHistory } from '../tab-recording/tab-history';

export type Message =
  | { kind: 'send-capture'; id: string }
  | { kind: 'send-all' }
  | { kind: 'update-recorded-sites' }
  | { kind: 'load-projects' }
  | { kind: 'read-tab-history'; tab: number; url: string }
  | { kind: 'read-requests'; tab: number; url: string }
  | { kind: 'resolve-stacks'; draft: string }
  | { kind: 'capture-full-page'; draft: string }
  | { kind: 'cancel-full-page' }
  | { kind: 'read-full-page-progress' };

/** The answers, by the kind of message; the other kinds have none. */
export interface Answers {
  'send-capture': SendResult;
  'read-tab-history': TabHistory;
  'read-requests': Observation | null;
  'resolve-stacks': ResolvedStacks | null;
  'read-full-page-progress': FullPageProgress | null;
}

/** The port of a popup that shows what became of its report; without one, the ticket opens in a tab. */
export const SHOWS_RESULT = 'shows-result';

/** Send a message to the background, and wait for its answer. */
export function sendToBackground<M extends Message>(
  message: M,
): Promise<(M['kind'] extends keyof Answers ? Answers[M['kind']] : never) | null> {
  return chrome.runtime.sendMessage(message);
}
