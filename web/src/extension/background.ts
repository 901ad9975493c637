/** What the extension does while none of its pages is open. */
import { projects } from './api';
import { awaitEvents, deepRecord, endDeep, switchDeep } from './deep/deep';
import { endSignIn } from './oauth';
import { flush, sendNow, type Outcome } from './outbox';
import type { Record } from './shapes';
import { catchUp, register } from './sites';
import { queue } from './store';

const MENU = 'capture';

/** What the extension's pages ask of it. */
export type Message =
  | { kind: 'send'; id: string }
  | { kind: 'flush' }
  | { kind: 'sites' }
  | { kind: 'projects' }
  | { kind: 'deep'; tab: number; on: boolean }
  | { kind: 'deep record'; tab: number };
/** The answers to those that have one. */
export interface Answers {
  send: Outcome;
  deep: { problem: string } | null;
  'deep record': Record | null;
}

chrome.runtime.onInstalled.addListener(async () => {
  await chrome.contextMenus.removeAll();
  chrome.contextMenus.create({
    id: MENU,
    title: 'Report a bug on this page',
    contexts: ['page', 'frame', 'image', 'link'],
  });
  await register();
  await catchUp();
});
chrome.runtime.onStartup.addListener(async () => {
  await register();
  await learn().catch(() => {});
});
// whatever woke it up: what is due is sent, and what isn't gets its alarm, which no restart is sure to leave alone
void flush();
void awaitEvents();
chrome.alarms.onAlarm.addListener(() => void flush());
addEventListener('online', () => void flush());

chrome.permissions.onAdded.addListener(async () => {
  await register();
  await catchUp();
});
chrome.permissions.onRemoved.addListener(() => void register());

chrome.contextMenus.onClicked.addListener(() => void chrome.action.openPopup());

chrome.tabs.onUpdated.addListener(async (tab, change) => {
  if (!change.url || !(await endSignIn(tab, change.url).catch(() => false))) return;
  await chrome.tabs.remove(tab);
  await learn();
  await chrome.runtime.openOptionsPage();
  await flush(true);
});

chrome.runtime.onMessage.addListener((message: Message, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return false;
  void handle(message).then(answer, (error: unknown) => answer({ problem: String(error), waits: true }));
  return true;
});

async function handle(message: Message): Promise<Answers[keyof Answers]> {
  switch (message.kind) {
    case 'send': {
      const tab = (await queue.get(message.id))?.tab;
      if (tab !== undefined) await endDeep(tab);
      const outcome = await sendNow(message.id);
      if ('url' in outcome) await chrome.tabs.create({ url: outcome.url });
      return outcome;
    }
    case 'flush':
      await flush(true);
      return null;
    case 'projects':
      await learn();
      return null;
    case 'deep':
      await switchDeep(message.tab, message.on);
      return null;
    case 'deep record':
      return deepRecord(message.tab);
    case 'sites':
      await register();
      await catchUp();
      return null;
  }
}

/** Ask for the projects: their policies say where bodies are recorded. */
async function learn(): Promise<void> {
  await projects();
  await register();
}
