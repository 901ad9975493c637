import type { PointedElement } from '../../recorder/pointing/point';

/** What the script in a page sends to the background when the person has pointed; null if they left. */
export interface PointedMessage {
  kind: 'pointed';
  pointed: PointedElement | null;
}

export function isPointedMessage(message: unknown): message is PointedMessage {
  return (message as PointedMessage).kind === 'pointed';
}
