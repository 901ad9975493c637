import type { NetworkEntry } from '../../recorder/capture-types';

/** By how much the two times of the same load may differ. */
const TOLERANCE_MS = 50;

/**
 * Remove the loads of frames that their own documents recorded too, with more detail. The initiator is kept, which only
 * the page around a frame knows. The list is changed in place.
 */
export function removeFrameLoads(network: NetworkEntry[]): void {
  const isLoad = ({ type, initiator }: NetworkEntry) => type === 'document' && initiator != null;
  for (const own of network.filter((each) => each.type === 'document' && each.frame && !isLoad(each))) {
    const distance = ({ ts }: NetworkEntry) => Math.abs(ts - own.ts);
    const [load] = network
      .filter((each) => isLoad(each) && each.frame !== own.frame && each.document === own.document)
      .filter((each) => each.url === own.url || distance(each) <= TOLERANCE_MS)
      .sort((a, b) => Number(b.url === own.url) - Number(a.url === own.url) || distance(a) - distance(b));
    if (!load) continue;
    own.initiator = load.initiator;
    network.splice(network.indexOf(load), 1);
  }
}
