/** The scripts that record in pages: registered with the browser for pages that load, injected into open ones. */
import { isReplayRecorded } from '../replay/replay-settings';
import { appState } from '../storage';
import { listSitesWithoutBodies } from './body-sites';
import { getRecordedSites } from './recorded-sites';

const SCRIPT_IDS = {
  recorder: 'recorder',
  recorderWithBodies: 'recorder-with-bodies',
  reader: 'reader',
  replay: 'replay',
};
let registration: Promise<void> = Promise.resolve();

/** Register the scripts for the sites that are recorded from page load; one registration at a time. */
export function registerRecorder(): Promise<void> {
  registration = registration.catch(() => {}).then(registerScripts);
  return registration;
}

async function registerScripts(): Promise<void> {
  const matches = await getRecordedSites();
  const registered = (await chrome.scripting.getRegisteredContentScripts()).map(({ id }) => id);
  if (registered.length) await chrome.scripting.unregisterContentScripts({ ids: registered });
  if (!matches.length) return;
  const without = listSitesWithoutBodies(matches, (await appState.get('projects')) ?? []);
  const common = { runAt: 'document_start', allFrames: true, matchOriginAsFallback: true } as const;
  const inPage = { ...common, world: 'MAIN' } as const;
  // it records the frames of the same origin from the top
  const replay = { ...inPage, allFrames: false, matchOriginAsFallback: false, id: SCRIPT_IDS.replay };
  await chrome.scripting.registerContentScripts([
    { ...common, id: SCRIPT_IDS.reader, js: ['record-reader.js'], matches },
    {
      ...inPage,
      id: SCRIPT_IDS.recorderWithBodies,
      js: ['enable-bodies.js', 'recorder.js'],
      matches,
      ...(without.length ? { excludeMatches: without } : {}),
    },
    ...(without.length
      ? [{ ...inPage, id: SCRIPT_IDS.recorder, js: ['recorder.js'], matches: without }]
      : []),
    ...((await isReplayRecorded()) ? [{ ...replay, js: ['replay.js'], matches }] : []),
  ]);
}

/** Start recording in the open tabs of recorded sites. */
export async function recordOpenTabs(): Promise<void> {
  const sites = await getRecordedSites();
  if (!sites.length) return;
  const recordsReplay = await isReplayRecorded();
  for (const { id, discarded } of await chrome.tabs.query({ url: sites })) {
    if (id === undefined || discarded) continue;
    const isStarted = await injectRecorder(id).catch(() => false);
    if (!isStarted || !recordsReplay) continue;
    const script = { target: { tabId: id }, files: ['replay.js'] };
    await chrome.scripting.executeScript({ ...script, world: 'MAIN' }).catch(() => {});
  }
}

/**
 * Start recording in every frame of a tab that isn't recorded yet. Returns whether the page itself is one of them.
 * Raises Error where extensions aren't allowed.
 */
export async function injectRecorder(tab: number): Promise<boolean> {
  const frames = await chrome.scripting.executeScript({
    target: { tabId: tab, allFrames: true },
    func: () => 'readTicketboxFrame' in globalThis,
  });
  const frameIds = frames.filter(({ result }) => !result).map(({ frameId }) => frameId);
  if (!frameIds.length) return false;
  const target = { tabId: tab, frameIds };
  await chrome.scripting.executeScript({ target, files: ['record-reader.js'] });
  await chrome.scripting.executeScript({ target, files: ['recorder.js'], world: 'MAIN' });
  return frameIds.includes(0);
}
