/** Taking a capture of a tab: the picture, what every frame recorded, and how complete that is. */
import { Redactor } from './redaction/redact';
import { picture } from './screenshot';
import type { Health, Reason, Record, StreamHealth, StreamName, Streams, Told } from './shapes';
import { STREAMS } from './shapes';
import { inject } from './sites';
import type { Draft } from './store';

const PATIENCE = 5_000;

interface FrameAnswer {
  frame: number;
  told: Told | null;
}
/** What the frames said, or why none did. */
type Answers = { frames: FrameAnswer[] } | { reason: Reason };

/** Capture a tab; `deep` is what the browser's debugger told of it. Secrets are taken out before anything is kept. */
export async function takeCapture(tab: chrome.tabs.Tab, deep: Record | null = null): Promise<Draft> {
  const [screenshot, answers] = [await picture(tab), await ask(tab.id!)];
  const top = 'frames' in answers ? answers.frames.find(({ frame }) => frame === 0)?.told : null;
  const told = top ?? fromOutside(tab);
  // whoever listened before the page came heard all of it
  const since = deep && top && deep.began > top.loaded ? deep.began : 0;
  const streams = joined('frames' in answers ? answers.frames : [], deep, since);
  const redactor = new Redactor();
  redactor.streams(streams);
  return {
    id: crypto.randomUUID(),
    tab: tab.id!,
    envelope: {
      page: redactor.page(told.page),
      environment: told.environment,
      captured_at: Date.now(),
      health: healthOf(answers, streams, top ?? null, deep, deep !== null && since === 0),
      redaction: redactor.counts,
    },
    streams,
    screenshot,
  };
}

async function ask(tab: number): Promise<Answers> {
  try {
    const frames = await inTime(read(tab));
    if (frames.every(({ told }) => told)) return { frames };
    await inTime(inject(tab));
    return { frames: await inTime(read(tab)) };
  } catch (problem) {
    return { reason: problem instanceof Late ? 'error' : 'restricted_page' };
  }
}

async function read(tab: number): Promise<FrameAnswer[]> {
  const target = { tabId: tab, allFrames: true };
  const found = await chrome.scripting.executeScript({
    target,
    func: () => globalThis.ticketboxTell?.() ?? null,
  });
  return found.map(({ frameId, result }) => ({
    frame: frameId,
    told: (result as Told | null | undefined) ?? null,
  }));
}

class Late extends Error {}

/** A page that is stuck answers nothing; the picture can be had all the same. */
function inTime<T>(work: Promise<T>): Promise<T> {
  return Promise.race([work, new Promise<T>((_, fail) => setTimeout(() => fail(new Late()), PATIENCE))]);
}

/**
 * The frames' records in one order, each entry with the frame that it came from. Where the debugger listened, it alone
 * tells of requests that began after `since`.
 */
export function joined(frames: FrameAnswer[], deep: Record | null, since: number): Streams {
  const all: Streams = { console: [], network: [], errors: [] };
  for (const { frame, told } of frames) {
    if (!told?.record) continue;
    for (const name of STREAMS)
      for (const entry of told.record[name]) {
        entry.frame = frame === 0 ? null : told.page.url;
        if (name !== 'network' || !deep || entry.ts < since) all[name].push(entry as never);
      }
  }
  for (const name of STREAMS) all[name].push(...((deep?.[name] ?? []) as never[]));
  for (const name of STREAMS) all[name].sort((a: { ts: number }, b: { ts: number }) => a.ts - b.ts);
  const spoken = [...all.console, ...all.errors].sort((a, b) => a.ts - b.ts || a.seq - b.seq);
  spoken.forEach((entry, at) => (entry.seq = at + 1));
  all.network.forEach((entry, at) => (entry.id = `r${at + 1}`));
  return all;
}

/** `whole` says that the debugger heard every request of the page. */
function healthOf(
  answers: Answers,
  streams: Streams,
  top: Told | null,
  deep: Record | null,
  whole: boolean,
): Health {
  const each = (name: StreamName): StreamHealth => {
    const byDebugger = whole && name === 'network';
    const inPage = 'frames' in answers ? answers.frames.flatMap(({ told }) => told?.record ?? []) : [];
    const records = [...(byDebugger ? [] : inPage), ...(deep ? [deep] : [])];
    let [status, reason] = byDebugger ? COMPLETE : judged(answers, name);
    if (!reason && deep && deep.dropped[name] > 0) [status, reason] = ['partial', 'limit'];
    const dropped = records.reduce((sum, record) => sum + record.dropped[name], 0);
    return { status, reason, captured: streams[name].length, dropped };
  };
  return {
    console: each('console'),
    network: each('network'),
    errors: each('errors'),
    screenshot: null,
    history_started_at: top?.record?.began ?? null,
    page_loaded_at: top?.loaded ?? null,
  };
}

type Judgement = [StreamHealth['status'], Reason | null];
const COMPLETE: Judgement = ['ok', null];

function judged(answers: Answers, name: StreamName): Judgement {
  if ('reason' in answers) return ['blocked', answers.reason];
  const records = answers.frames.map(({ told }) => told?.record);
  const top: Record | null | undefined = answers.frames.find(({ frame }) => frame === 0)?.told?.record;
  if (!top) return ['blocked', 'csp'];
  if (top.late) return ['partial', 'late_start'];
  if (records.some((record) => record && record.dropped[name] > 0)) return ['partial', 'limit'];
  if (records.some((record) => !record)) return ['partial', 'csp'];
  const standing = answers.frames.reduce((sum, { told }) => sum + (told?.frames ?? 0), 1);
  if (standing > answers.frames.length) return ['partial', 'restricted_page'];
  return records.some((record) => record?.late) ? ['partial', 'late_start'] : COMPLETE;
}

/** What can be said of a page that lets nobody in. */
function fromOutside(tab: chrome.tabs.Tab): Told {
  const { width, height } = tab;
  return {
    record: null,
    page: { url: tab.url ?? '', title: tab.title ?? '', referrer: null },
    loaded: 0,
    environment: {
      browser: navigator.userAgent,
      os: navigator.platform || null,
      viewport: width && height ? { width, height } : null,
      screen: null,
      dpr: null,
      language: navigator.language,
      timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    },
    frames: 0,
  };
}
