/** What a project's policy for request and response bodies means, in one line. */
import type { CapturePolicy } from '../../generated/api';

export const BODIES: { [value in CapturePolicy['bodies']]: { label: string; meaning: string } } = {
  off: { label: 'Off', meaning: 'Bodies of requests and responses aren’t stored.' },
  shape: {
    label: 'Shape',
    meaning: 'Bodies keep their structure and formats; values are replaced by stand-ins.',
  },
  on: { label: 'On', meaning: 'Bodies are stored complete, up to 16 KiB of text each, without secrets.' },
};
