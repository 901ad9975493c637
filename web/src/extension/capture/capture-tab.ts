import type { FrameRecord, FrameReport, Streams } from '../../recorder/capture-types';
import {
  addDeclaredValues,
  DEFAULT_NAMES,
  readDeclaredValues,
} from '../../recorder/environment/declared-values';
import { Redactor } from '../../recorder/redaction/redactor';
import { sendToBackground } from '../background/messages';
import { readReplay } from '../replay/read-replay';
import { getReplaySeconds } from '../replay/replay-settings';
import { chooseProject } from '../pages/popup/draft/choose-project';
import { appState, type Draft } from '../storage';
import { addCounts, NO_HISTORY, removeKeptEntries, type TabHistory } from '../tab-recording/tab-history';
import { addObserved } from '../observed-requests/add-observed';
import type { Observation } from '../observed-requests/requests-store';
import { resolveMethod } from '../tab-recording/document-method';
import { removeFrameLoads } from './frame-documents';
import { readFrames, withTimeout } from './frames';
import { describeHealth } from './health';
import { joinHistory, mergeStreams } from './merge-streams';
import { captureScreenshot } from './screenshot';

/** By how much the clocks of the page and the browser may differ. */
const CLOCK_TOLERANCE_MS = 1_000;

/**
 * Capture a tab: its screenshot, what each frame recorded, and how complete that is. `deepRecord`: the record of the
 * browser's debugger, if it is attached. Secrets are redacted.
 */
export async function captureTab(
  tab: chrome.tabs.Tab,
  deepRecord: FrameRecord | null = null,
): Promise<Draft> {
  const screenshot = await captureScreenshot(tab);
  const result = await readFrames(tab);
  const frames = 'frames' in result ? result.frames : [];
  const history = await readHistory(tab);
  for (const { report } of frames)
    if (report?.record) removeKeptEntries(report.record, history.keptUntil[report.document]);
  const topReport = frames.find(({ id }) => id === 0)?.report ?? null;
  const seconds = await getReplaySeconds();
  const { replay, health: replayHealth } = await readReplay(
    tab.id!,
    seconds,
    topReport?.hasPredecessor ?? false,
    'reason' in result ? result.reason : null,
  );
  const { page, environment } = topReport ?? describeUnreadableTab(tab);
  // if the debugger was attached before the page loaded, it recorded every request
  const deepSince =
    deepRecord && topReport && deepRecord.startedAt > topReport.loadedAt ? deepRecord.startedAt : 0;
  if (topReport?.record && topReport.hasPredecessor) resolveMethod(topReport.record, history.next);
  const current = mergeStreams(frames, deepRecord, deepSince);
  const redactor = new Redactor();
  redactor.redactStreams(current);
  const streams = joinHistory(history, current);
  removeFrameLoads(streams.network);
  const observation = deepRecord ? null : await readObservation(tab);
  if (observation) {
    const since = findStart(streams, history, observation) - CLOCK_TOLERANCE_MS;
    redactor.counts.query += addObserved(streams.network, observation.requests, since);
  }
  const isDeepComplete = deepRecord !== null && deepSince === 0;
  return {
    id: crypto.randomUUID(),
    tab: tab.id!,
    envelope: {
      page: redactor.redactPage(page),
      environment: redactor.redactEnvironment({
        ...(topReport ? addDeclaredValues(environment, await readDeclared(tab)) : environment),
        extension: chrome.runtime.getManifest().version,
      }),
      captured_at: Date.now(),
      health: {
        ...describeHealth({ result, streams, history, deepRecord, isDeepComplete, observation }),
        replay: replayHealth,
      },
      redaction: addCounts(redactor.counts, history.redaction),
    },
    streams,
    earlierPages: history.documents,
    ...(replay ? { replay } : {}),
    screenshot,
  };
}

/** Read what the page declares; nothing if it can't be read. */
async function readDeclared({ id, url }: chrome.tabs.Tab): Promise<unknown> {
  const projects = (await appState.get('projects')) ?? [];
  const project = chooseProject(projects, url ?? '');
  // projects that an earlier version stored have no names
  const named = (project ? [project] : projects).flatMap((each) => each.capture_policy.declared_names ?? []);
  const reading = chrome.scripting.executeScript({
    target: { tabId: id! },
    world: 'MAIN',
    func: readDeclaredValues,
    args: [[...new Set([...DEFAULT_NAMES, ...named])]],
  });
  return withTimeout(reading).then(
    ([frame]) => frame?.result,
    () => null,
  );
}

async function readHistory(tab: chrome.tabs.Tab): Promise<TabHistory> {
  const message = { kind: 'read-tab-history', tab: tab.id!, url: tab.url ?? '' } as const;
  const answer = await sendToBackground(message);
  return answer && 'streams' in answer ? answer : NO_HISTORY;
}

async function readObservation(tab: chrome.tabs.Tab): Promise<Observation | null> {
  const message = { kind: 'read-requests', tab: tab.id!, url: tab.url ?? '' } as const;
  const answer = await sendToBackground(message);
  return answer && 'requests' in answer ? answer : null;
}

/** When the oldest of the captured documents was requested; epoch milliseconds. */
function findStart({ network }: Streams, { startedAt }: TabHistory, { requests }: Observation): number {
  const current = requests.findLast(({ type }) => type === 'main_frame');
  return Math.min(...[startedAt, network[0]?.ts, current?.ts].map((each) => each ?? Infinity));
}

/** The facts about a page that doesn't allow extensions. */
function describeUnreadableTab(tab: chrome.tabs.Tab): Pick<FrameReport, 'page' | 'environment'> {
  const { width, height } = tab;
  return {
    page: { url: tab.url ?? '', title: tab.title ?? '', referrer: null },
    environment: {
      browser: navigator.userAgent,
      os: navigator.platform || null,
      viewport: width && height ? { width, height } : null,
      screen: null,
      dpr: null,
      language: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      release: null,
    },
  };
}
