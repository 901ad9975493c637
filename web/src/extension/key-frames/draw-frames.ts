/**
 * Drawing pictures of a replay's key moments, of what is sent: masked and redacted. The tab itself is never
 * photographed for them, because it shows what people entered.
 */
import type { HealthReason, StreamHealth } from '../../recorder/capture-types';
import { Redactor } from '../../recorder/redaction/redactor';
import type { ReplayEvent } from '../../recorder/replay/channel';
import { redactTexts } from '../../recorder/replay/redact-texts';
import { appState, type Draft, type KeyFrame } from '../storage';
import { gunzipJson } from '../tab-recording/compression';
import { chooseMoments } from './key-moments';
import { PageModel } from './page-model';
import { writeSvg } from './write-svg';

/** How long drawing may disturb the person who reads the preview. */
const MAX_TIME_MS = 10_000;
const MAX_BYTES = 200_000;
const MAX_SVG = 4_000_000;
const MAX_SIDE = 1_280;
const QUALITIES = [0.8, 0.5, 0.2];

export interface DrawnFrames {
  /** The id of the draft. */
  draft: string;
  frames: KeyFrame[];
  health: StreamHealth;
}

/**
 * Draw the key moments of a draft; null without a replay, or if they are drawn. What isn't drawn when the signal ends it
 * is left out. The redaction rules of all projects apply.
 */
export async function drawFrames(draft: Draft, signal: AbortSignal): Promise<DrawnFrames | null> {
  if (!draft.replay || draft.replay.frames) return null;
  const end = AbortSignal.any([signal, AbortSignal.timeout(MAX_TIME_MS)]);
  const frames: KeyFrame[] = [];
  let moments: number[] = [];
  let reason: HealthReason | null = null;
  try {
    const events = (await gunzipJson(draft.replay.data)) as ReplayEvent[];
    const projects = (await appState.get('projects')) ?? [];
    const rules = projects.flatMap((each) => each.capture_policy.extra_redactions);
    if (rules.length) redactTexts(events, new Redactor([...new Set(rules)]));
    const last = events.at(-1)!.timestamp;
    const start = Math.max(events[0]!.timestamp, last - draft.replay.seconds * 1000);
    moments = chooseMoments(draft.streams, start, last);
    const page = new PageModel();
    let next = 0;
    for (const at of moments) {
      while (next < events.length && events[next]!.timestamp <= at) page.apply(events[next++]!);
      const picture = await drawPage(page, end);
      if (typeof picture === 'string') reason = picture;
      else frames.push({ at, picture });
    }
  } catch {
    reason = 'error';
  }
  return { draft: draft.id, frames, health: describe(frames.length, moments.length, reason) };
}

/** Add drawn key frames to the draft, if it is still the one that they were drawn of. */
export function addFrames(drawn: DrawnFrames | null, draft: Draft | undefined): Draft | undefined {
  if (!drawn || !draft?.replay || drawn.draft !== draft.id) return draft;
  const health = { ...draft.envelope.health, frames: drawn.health };
  const replay = { ...draft.replay, frames: drawn.frames };
  return { ...draft, replay, envelope: { ...draft.envelope, health } };
}

function describe(captured: number, wanted: number, reason: HealthReason | null): StreamHealth {
  const status = reason ? (captured ? 'partial' : 'blocked') : captured ? 'ok' : 'empty';
  return { status, reason, captured, dropped: wanted - captured };
}

/** Draw a page as a WebP; `limit` if it is too large, `slowdown` if there isn't time. Raises Error. */
async function drawPage(page: PageModel, end: AbortSignal): Promise<Blob | 'limit' | 'slowdown'> {
  if (end.aborted) return 'slowdown';
  const svg = writeSvg(page);
  if (svg === null) throw new Error('the replay has no page');
  if (svg.length > MAX_SVG) return 'limit';
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  const isDecoded = await Promise.race([image.decode().then(() => true), waitFor(end)]);
  if (!isDecoded) return 'slowdown';
  const scale = Math.min(1, MAX_SIDE / Math.max(page.width, page.height));
  const canvas = new OffscreenCanvas(Math.ceil(page.width * scale), Math.ceil(page.height * scale));
  const context = canvas.getContext('2d')!;
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  for (const quality of QUALITIES) {
    const picture = await canvas.convertToBlob({ type: 'image/webp', quality });
    if (picture.size <= MAX_BYTES) return picture;
  }
  return 'limit';
}

const waitFor = (end: AbortSignal) =>
  new Promise<false>((resolve) => end.addEventListener('abort', () => resolve(false), { once: true }));
