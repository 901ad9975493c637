/**
 * The page in the frame that shows a replay. Its own Content Security Policy allows only this script and data: images,
 * and the player puts the recorded page into a second frame, whose sandbox allows no scripts.
 */

import { Replayer } from '@rrweb/replay';
import '@rrweb/replay/dist/style.css';
import { PLACEHOLDERS } from '../../../shared/placeholders';
import './frame.css';
import type { ReplayEvent } from './replay';

/** Show a replay on this page; the page around the frame calls it. */
export function openReplay(events: ReplayEvent[], isStill: boolean): Replayer {
  // a copy, because the player changes events and looks for arrays of this frame
  const own = structuredClone(events) as ConstructorParameters<typeof Replayer>[0];
  return new Replayer(own, {
    root: document.body,
    mouseTail: false,
    triggerFocus: false,
    showWarning: false,
    skipInactive: true, // pauses
    inactivePeriodThreshold: 3_000,
    insertStyleRules: [
      ...PLACEHOLDERS,
      ...(isStill
        ? [
            '*, *::before, *::after { animation: none !important; transition: none !important; scroll-behavior: auto !important }',
          ]
        : []),
    ],
  });
}

declare global {
  interface Window {
    openReplay?: typeof openReplay;
  }
}
window.openReplay = openReplay;
