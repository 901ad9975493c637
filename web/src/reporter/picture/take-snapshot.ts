/** The picture of a report: one full snapshot of the page, masked and redacted as the extension's replay is. */
import { record } from '@rrweb/record';
import limits from '../../../../ticketbox/domain/captures/replay/limits.json';
import { now, toJson } from '../../recorder/natives/natives';
import { Redactor } from '../../recorder/redaction/redactor';
import type { ReplayEvent } from '../../recorder/replay/channel';
import { joinPrivateParts } from '../../recorder/private-parts';
import { removeMedia, SNAPSHOT_OPTIONS } from '../../recorder/replay/masking';
import { redactTexts } from '../../recorder/replay/redact-texts';
import { gzipJson } from '../../extension/tab-recording/compression';
import {
  ADOPTED_SHEETS,
  INCREMENT,
  META,
  NODE,
  SNAPSHOT,
  type Addition,
  type Meta,
  type Snapshot,
  type SnapshotNode,
} from './snapshot-events';

/** With the files and the recorded streams, it stays within the server's limit. */
const MAX_BYTES = 1_000_000;
/** What a person draws on the picture is added later. */
const SHARE = 0.9;
/** An element is an object with an object of attributes. */
const MAX_ELEMENTS = (SHARE * limits.objects) / 2;

/** What the page shows, as events of rrweb: its size, a full snapshot, and style sheets that scripts have added. */
export interface PageSnapshot {
  meta: Meta;
  snapshot: Snapshot;
  sheets: Addition[];
}

/** Why there is no picture: the page is too large, or makes it impossible. */
export type NoPicture = 'limit' | 'error';

/** Take a snapshot of the page without the reporter, `own`, and without what the masks hide. */
export async function takeSnapshot(own: string, masks: readonly string[]): Promise<PageSnapshot | NoPicture> {
  try {
    if (document.getElementsByTagName('*').length > MAX_ELEMENTS) return 'limit';
    const taken = redactTexts(
      readEvents(await recordOnce(`${joinPrivateParts(masks)}, ${own}`)),
      new Redactor(),
    );
    return isAccepted(toJson(taken)) && (await encodeSnapshot(taken)).size <= MAX_BYTES ? taken : 'limit';
  } catch {
    return 'error';
  }
}

/** Whether the server stores a replay with this JSON. */
function isAccepted(text: string): boolean {
  const count = (sign: string) => text.split(sign).length - 1;
  return (
    new Blob([text]).size <= SHARE * limits.bytes &&
    count('"') <= SHARE * limits.quotes &&
    count(',') <= SHARE * limits.commas &&
    Math.max(count('{'), count('[')) <= SHARE * limits.objects
  );
}

/** The part `replay` of a report. */
export function encodeSnapshot({ meta, snapshot, sheets }: PageSnapshot): Promise<Blob> {
  const timestamp = Math.round(now());
  return gzipJson([
    { type: META, data: meta, timestamp },
    { type: SNAPSHOT, data: snapshot, timestamp },
    ...sheets.map((data) => ({ type: INCREMENT, data, timestamp })),
  ]);
}

/** Start recording, and stop as soon as the sheets of shadow roots have followed the snapshot. */
async function recordOnce(blockSelector: string): Promise<ReplayEvent[]> {
  const events: ReplayEvent[] = [];
  const stop = record({
    ...SNAPSHOT_OPTIONS,
    blockSelector,
    emit: (event) => events.push(event as ReplayEvent),
    errorHandler: () => true,
  });
  try {
    await new Promise((done) => setTimeout(done));
  } finally {
    stop?.();
  }
  return events;
}

function readEvents(events: ReplayEvent[]): PageSnapshot {
  const find = (type: number) => events.find((event) => event.type === type)!.data;
  const added = events
    .filter(({ type, data }) => type === INCREMENT && (data as Addition).source === ADOPTED_SHEETS)
    .map(({ data }) => data as Addition);
  const shown = { meta: find(META), snapshot: find(SNAPSHOT), sheets: added };
  const clean = JSON.parse(removeMedia(toJson(shown))) as PageSnapshot;
  const scopes = new Set(listScopes(clean.snapshot.node));
  return { ...clean, sheets: clean.sheets.filter(({ id }) => scopes.has(id)) };
}

/** The ids of nodes with style sheets that are in the snapshot; a blocked element's shadow root isn't. */
function listScopes({ type, id, childNodes = [] }: SnapshotNode): number[] {
  const isScope = type === NODE.document || childNodes.some(({ isShadow }) => isShadow);
  return [...(isScope ? [id] : []), ...childNodes.flatMap(listScopes)];
}
