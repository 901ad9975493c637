import { STREAMS, type Streams } from '../../recorder/capture-types';
import type { TabHistory } from '../tab-recording/tab-history';
import type { ReadFrame } from './frames';

/** Merge the records of all frames, each entry with the URL of its frame. */
export function mergeStreams(frames: ReadFrame[]): Streams {
  const merged: Streams = { console: [], network: [], errors: [], actions: [] };
  for (const { id, report } of frames) {
    if (!report?.record) continue;
    for (const name of STREAMS)
      for (const entry of report.record[name]) {
        entry.frame = id === 0 ? null : report.page.url;
        merged[name].push(entry as never);
      }
  }
  return merged;
}

/** Put the entries of earlier documents before those of the current one, and number all in order of time. */
export function joinHistory(history: TabHistory, current: Streams): Streams {
  const merged: Streams = { console: [], network: [], errors: [], actions: [] };
  for (const name of STREAMS) {
    for (const entry of current[name]) entry.document = history.documents;
    merged[name].push(...(history.streams[name] as never[]), ...(current[name] as never[]));
    merged[name].sort((a: { ts: number }, b: { ts: number }) => a.ts - b.ts);
  }
  numberEntries(merged);
  return merged;
}

function numberEntries(merged: Streams): void {
  const numbered = [...merged.console, ...merged.errors, ...merged.actions].sort(
    (a, b) => a.ts - b.ts || a.seq - b.seq,
  );
  numbered.forEach((entry, index) => (entry.seq = index + 1));
  merged.network.forEach((entry, index) => (entry.id = `r${index + 1}`));
}
