/** What a project's policies for bodies and for a page's storage mean, in one line. */
import type { CapturePolicy } from '../../generated/api';

export const BODIES: { [value in CapturePolicy['bodies']]: { label: string; meaning: string } } = {
  off: { label: 'Off', meaning: 'Bodies of requests and responses aren’t stored.' },
  shape: {
    label: 'Shape',
    meaning: 'Bodies keep their structure and formats; values are replaced by stand-ins.',
  },
  on: { label: 'On', meaning: 'Bodies are stored complete, up to 16 KiB of text each, without secrets.' },
};

export const STORAGE: { [value in CapturePolicy['storage']]: { label: string; meaning: string } } = {
  off: { label: 'Off', meaning: 'Nothing of what a page stores is recorded.' },
  names: { label: 'Names', meaning: 'Names in local and session storage, without values.' },
  shape: {
    label: 'Shape',
    meaning:
      'What a page had stored at the start keeps its structure; secrets and personal data become stand-ins.',
  },
};
