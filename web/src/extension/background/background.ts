/** The extension's background: handles the browser's events and the messages of the extension's pages. */
import { loadProjects } from '../connection/api';
import { finishSignIn } from '../connection/sign-in';
import { cancelFullPage, captureDraftPage, readFullPageProgress } from '../full-page/background-capture';
import { sendDue, sendNow } from '../outbox/outbox';
import { listenToRequests } from '../observed-requests/request-listeners';
import { eraseRequests, readRequests, updateObservedSites } from '../observed-requests/requests-store';
import { recordOpenTabs, registerRecorder } from '../recording/content-scripts';
import { addNewSite } from '../recording/new-site';
import { isOptionsQuestion, readPageOptions, type OptionsQuestion } from '../recording/page-options';
import { resolveStacks } from '../source-maps/resolve-stacks';
import { appState, drafts } from '../storage';
import { openStartPage, returnToPage } from './own-pages';
import { announceRecording } from './announce-recording';
import {
  eraseTab,
  eraseUnrecordedSites,
  keepDocument,
  readTabHistory,
} from '../tab-recording/documents-store';
import { keepPointed } from '../pointing/keep-pointed';
import { isPointedMessage, type PointedMessage } from '../pointing/pointed-message';
import { isHandOver, type HandOver } from '../tab-recording/hand-over';
import { SHOWS_RESULT, type Answers, type Message } from './messages';
import { isOwnPage, isOwnScript } from './senders';

const MENU_ITEM = 'capture';

chrome.runtime.onInstalled.addListener(async ({ reason }) => {
  await chrome.contextMenus.removeAll();
  chrome.contextMenus.create({
    id: MENU_ITEM,
    title: 'Report a bug on this page',
    contexts: ['page', 'frame', 'image', 'link'],
  });
  await registerRecorder();
  await recordOpenTabs();
  if (reason === 'install') await openStartPage();
});
chrome.runtime.onStartup.addListener(async () => {
  await registerRecorder();
  await updateProjects().catch(() => {});
});
// at each start, whatever caused it: browsers may drop alarms at a restart, so the outbox must set its alarm again
void sendDue();
listenToRequests();
chrome.alarms.onAlarm.addListener(() => void sendDue());
addEventListener('online', () => void sendDue());

chrome.permissions.onAdded.addListener(async () => {
  await updateRecordedSites();
  await recordOpenTabs();
  await announceRecording();
});
chrome.permissions.onRemoved.addListener(() => void updateRecordedSites());
chrome.tabs.onRemoved.addListener((tab) => {
  void eraseTab(tab);
  void eraseRequests(tab);
});

/** The open popups that show the report that they send. */
const listeners = new Set<chrome.runtime.Port>();
chrome.runtime.onConnect.addListener((port) => {
  if (port.name !== SHOWS_RESULT || !isOwnPage(port.sender ?? {})) return;
  listeners.add(port);
  port.onDisconnect.addListener(() => listeners.delete(port));
});

chrome.contextMenus.onClicked.addListener(() => void chrome.action.openPopup());

chrome.tabs.onUpdated.addListener(async (tab, change) => {
  const finished = change.url ? await finishSignIn(tab, change.url).catch(() => null) : null;
  if (!finished) return;
  await chrome.tabs.remove(tab);
  await updateProjects();
  await returnToPage(finished.page);
  await sendDue(true);
});

chrome.runtime.onMessage.addListener(
  (message: Message | HandOver | OptionsQuestion | PointedMessage, sender, answer) => {
    if (isHandOver(message)) {
      if (isOwnScript(sender)) void keepDocument(message, sender).catch(() => {}); // a page can send anything
      return false;
    }
    if (isOptionsQuestion(message)) {
      if (!isOwnScript(sender)) return false;
      void readPageOptions(sender.url ?? '').then(answer, () => answer(null));
      return true;
    }
    if (isPointedMessage(message)) {
      if (!isOwnScript(sender) || sender.frameId !== 0) return false;
      void keepPointed(message, sender).then(answer, () => answer(false));
      return true;
    }
    if (!isOwnPage(sender)) return false;
    void handle(message).then(answer, (error: unknown) =>
      answer({ problem: error instanceof Error ? error.message : String(error), willRetry: true }),
    );
    return true;
  },
);

async function handle(message: Message): Promise<Answers[keyof Answers]> {
  switch (message.kind) {
    case 'send-capture': {
      const result = await sendNow(message.id);
      if ('url' in result && !listeners.size) await chrome.tabs.create({ url: result.url });
      return result;
    }
    case 'send-all':
      await sendDue(true);
      return null;
    case 'load-projects':
      await updateProjects();
      return null;
    case 'read-tab-history':
      return readTabHistory(message.tab, message.url);
    case 'read-requests':
      return readRequests(message.tab, message.url);
    case 'resolve-stacks': {
      const draft = await drafts.get(message.draft);
      return draft ? resolveStacks(draft) : null;
    }
    case 'capture-full-page':
      await captureDraftPage(message.draft);
      return null;
    case 'cancel-full-page':
      cancelFullPage();
      return null;
    case 'read-full-page-progress':
      return readFullPageProgress();
    case 'update-recorded-sites':
      // their policies say what is recorded
      if (!(await appState.get('projects'))) await loadProjects().catch(() => {});
      await updateRecordedSites();
      await recordOpenTabs();
      return null;
  }
}

/** Load the projects, and register the recorder by their policies. */
async function updateProjects(): Promise<void> {
  await loadProjects();
  await registerRecorder();
}

/** Record the sites that are chosen and allowed now, and erase what is kept of others. */
async function updateRecordedSites(): Promise<void> {
  listenToRequests();
  await addNewSite();
  await registerRecorder();
  await eraseUnrecordedSites();
  await updateObservedSites();
}
