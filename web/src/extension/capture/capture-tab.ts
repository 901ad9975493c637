import type { FrameReport, Streams } from '../../recorder/capture-types';
import {
  addDeclaredValues,
  DEFAULT_NAMES,
  readDeclaredValues,
} from '../../recorder/environment/declared-values';
import { Redactor } from '../../recorder/redaction/redactor';
import { sendToBackground } from '../background/messages';
import { readReplay, type RecordedReplay } from '../replay/read-replay';
import { getReplaySeconds } from '../replay/replay-settings';
import { chooseProject } from '../draft/choose-project';
import { appState, type Draft } from '../storage';
import {
  addCounts,
  joinStored,
  NO_HISTORY,
  removeKeptEntries,
  type TabHistory,
} from '../tab-recording/tab-history';
import { addObserved } from '../observed-requests/add-observed';
import type { Observation } from '../observed-requests/requests-store';
import { resolveMethod } from '../tab-recording/document-method';
import { removeFrameLoads } from './frame-documents';
import { readFrames, withTimeout, type FramesResult } from './frames';
import { describeHealth } from './health';
import { joinHistory, mergeStreams } from './merge-streams';
import { captureScreenshot } from './screenshot';

/** By how much the clocks of the page and the browser may differ. */
const CLOCK_TOLERANCE_MS = 1_000;

/** How many entries of each stream a preview has, besides the steps: enough to suggest the title. */
const PREVIEW_ENTRIES = 20;

/** A capture that was started. */
export interface StartedCapture {
  /** What is shown immediately: the screenshot, all steps, and the newest entries of the other streams. It is never sent. */
  preview: Draft;
  /** Read all that was recorded: the capture that is sent, with the preview's id. */
  complete: () => Promise<Draft>;
}

/** What a capture is composed of, not redacted except the history and the observation. */
interface Sources {
  result: FramesResult;
  history: TabHistory;
  observation: Observation | null;
  /** What the page declares; null if it can't be read. */
  declared: unknown;
  replay: RecordedReplay | null;
}

/** Start to capture a tab: its screenshot, what each frame recorded, and how complete that is. Secrets are redacted. */
export async function startCapture(tab: chrome.tabs.Tab): Promise<StartedCapture> {
  const [screenshot, result, history] = await Promise.all([
    captureScreenshot(tab), // requested first: the page must not have changed
    readFrames(tab, PREVIEW_ENTRIES),
    readHistory(tab),
  ]);
  const own = { id: crypto.randomUUID(), tab: tab.id!, screenshot };
  const missing = { observation: null, declared: null, replay: null };
  const preview = compose(tab, { result, history, ...missing });
  const complete = async () => {
    // a page that can't be read, or hangs, isn't asked again
    const isReadable = 'frames' in result;
    const reason = isReadable ? null : result.reason;
    const seconds = await getReplaySeconds();
    const [whole, replay, declared] = await Promise.all([
      isReadable ? readFrames(tab) : result,
      readReplay(tab.id!, seconds, findTop(result)?.hasPredecessor ?? false, reason),
      isReadable ? readDeclared(tab) : null,
    ]);
    // last, so that it has the requests that the page has
    const observation = await readObservation(tab);
    return { ...own, ...compose(tab, { result: whole, history, observation, declared, replay }) };
  };
  return { preview: { ...own, ...preview }, complete };
}

function compose(
  tab: chrome.tabs.Tab,
  { result, history, observation, declared, replay }: Sources,
): Pick<Draft, 'envelope' | 'streams' | 'earlierPages' | 'replay'> {
  const frames = 'frames' in result ? result.frames : [];
  for (const { report } of frames)
    if (report?.record) removeKeptEntries(report.record, history.keptUntil[report.document]);
  const topReport = findTop(result);
  const { page, environment } = topReport ?? describeUnreadableTab(tab);
  if (topReport?.record && topReport.hasPredecessor) resolveMethod(topReport.record, history.next);
  if (environment.storage?.start) {
    const own = environment.storage.start.map((each) => ({ ...each, document: history.documents }));
    environment.storage = { ...environment.storage, start: joinStored([...history.stored, ...own]) };
  }
  const current = mergeStreams(frames);
  const redactor = new Redactor();
  redactor.redactStreams(current);
  const streams = joinHistory(history, current);
  removeFrameLoads(streams.network);
  if (observation) {
    const since = findStart(streams, history, observation) - CLOCK_TOLERANCE_MS;
    redactor.counts.query += addObserved(streams.network, observation.requests, since);
  }
  return {
    envelope: {
      page: redactor.redactPage(page),
      environment: redactor.redactEnvironment({
        ...(topReport ? addDeclaredValues(environment, declared) : environment),
        extension: chrome.runtime.getManifest().version,
      }),
      captured_at: Date.now(),
      health: {
        ...describeHealth({ result, streams, history, observation }),
        ...(replay && { replay: replay.health }),
      },
      redaction: addCounts(redactor.counts, history.redaction),
    },
    streams,
    earlierPages: history.documents,
    ...(replay?.replay ? { replay: replay.replay } : {}),
  };
}

function findTop(result: FramesResult): FrameReport | null {
  return ('frames' in result && result.frames.find(({ id }) => id === 0)?.report) || null;
}

/** Read what the page declares; nothing if it can't be read. */
async function readDeclared({ id, url }: chrome.tabs.Tab): Promise<unknown> {
  const projects = (await appState.get('projects')) ?? [];
  const project = chooseProject(projects, url ?? '');
  const named = (project ? [project] : projects).flatMap((each) => each.capture_policy.declared_names);
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
