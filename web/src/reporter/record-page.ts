/** What the reporter records: the same as the extension, of this document alone. */
import { joinActions } from '../recorder/actions/join-actions';
import { recordActions } from '../recorder/actions/record-actions';
import type { FrameReport, PageRecord } from '../recorder/capture-types';
import {
  addDeclaredValues,
  DEFAULT_NAMES,
  readDeclaredValues,
} from '../recorder/environment/declared-values';
import { recordPerformance } from '../recorder/environment/performance';
import { describeFrame } from '../recorder/frame-facts';
import { startRecorder } from '../recorder/recorder';
import type { ReportSettings } from './load-settings';
import type { ReportAddress } from './report-address';

const EVERYTHING = { since: 0, limit: Infinity };

/**
 * Start recording. Bodies of requests never are recorded: a page can't know whether its project stores them. Returns a
 * function that reads the record, not redacted, without names of what the project hides, with the values of
 * the names that it lists; null if the page makes that impossible.
 */
export function recordPage(
  address: ReportAddress,
  isExcluded: (event: Event) => boolean,
): (settings: ReportSettings) => FrameReport | null {
  const readRecord = startRecorder(false);
  const recorder = recordActions(document.readyState !== 'loading', isExcluded);
  const readPerformance = recordPerformance();

  const readFrame = (names: string[]): FrameReport => {
    const record = JSON.parse(readRecord(EVERYTHING)) as PageRecord;
    const actions = structuredClone(recorder.read(EVERYTHING));
    const facts = describeFrame();
    const measured = { ...facts.environment, ...readPerformance() };
    return {
      document: '',
      ...facts,
      environment: addDeclaredValues(
        measured,
        readDeclaredValues([...new Set([...DEFAULT_NAMES, ...names])]),
      ),
      record: joinActions(
        { ...record, network: record.network.filter(({ url }) => !address.isOwn(url)) },
        actions,
      ),
    };
  };

  return (settings) => {
    try {
      recorder.applyMasks(settings.mask_selectors);
      return readFrame(settings.declared_names);
    } catch {
      return null;
    }
  };
}
