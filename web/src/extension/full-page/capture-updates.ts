/** What the background reports to the extension's pages while it captures a full page. */
import type { FullPageScreenshot } from './full-page';

/** The part that is captured now. `partCount` is 0 while the page is measured. */
export interface FullPageProgress {
  draft: string;
  part: number;
  partCount: number;
}
/** `problem`: why there is no screenshot; null if the user cancelled it. */
export type FullPageUpdate =
  FullPageProgress | ({ draft: string } & FullPageScreenshot) | { draft: string; problem: string | null };

const CHANNEL_NAME = 'full-page';

export function publishUpdate(update: FullPageUpdate): void {
  const channel = new BroadcastChannel(CHANNEL_NAME);
  channel.postMessage(update);
  channel.close();
}

/** Call a function for the updates of a draft. Returns a function that stops it. */
export function listenForUpdates(draft: string, listener: (update: FullPageUpdate) => void): () => void {
  const channel = new BroadcastChannel(CHANNEL_NAME);
  channel.onmessage = ({ data }: MessageEvent<FullPageUpdate>) => {
    if (data.draft === draft) listener(data);
  };
  return () => channel.close();
}
