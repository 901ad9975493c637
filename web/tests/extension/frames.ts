import type { ReadFrame } from '../../src/extension/capture/frames';
import type { ConsoleEntry, FrameRecord, FrameReport, NetworkEntry } from '../../src/recorder/capture-types';

export function frameRecord(fields: Partial<FrameRecord> = {}): FrameRecord {
  const dropped = { console: 0, network: 0, errors: 0, actions: 0 };
  return {
    startedAt: 0,
    startedLate: false,
    arrival: { type: 'navigate', redirects: 0 },
    console: [],
    network: [],
    errors: [],
    actions: [],
    dropped,
    ...fields,
  };
}

/** A frame whose address is its id. */
export function readFrame(id: number, record: FrameRecord | null, childFrames = 0): ReadFrame {
  const page = { url: `https://shop.example/${id}`, title: '', referrer: null };
  return {
    id,
    report: { record, page, loadedAt: 0, environment: {}, childFrames } as unknown as FrameReport,
  };
}

export function line(ts: number, seq = 1): ConsoleEntry {
  return { seq, ts, level: 'log', args: [String(ts)] } as ConsoleEntry;
}

export function request(ts: number): NetworkEntry {
  return { id: '-', ts, method: 'GET', url: `https://shop.example/?${ts}` } as NetworkEntry;
}
