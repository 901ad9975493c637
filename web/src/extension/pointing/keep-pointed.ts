import { drafts } from '../storage';
import type { PointedMessage } from './pointed-message';

/**
 * Keep what the person pointed at with the draft of the tab, and open the popup again. Returns whether it is open:
 * Firefox requires a click.
 */
export async function keepPointed(
  { pointed }: PointedMessage,
  { tab }: chrome.runtime.MessageSender,
): Promise<boolean> {
  const draft = (await drafts.getAll()).find((each) => each.tab === tab?.id);
  if (!draft?.isPointing) return false;
  await drafts.put({ ...draft, isPointing: false, ...(pointed && { pointed }) });
  return chrome.action.openPopup({ windowId: tab!.windowId }).then(
    () => true,
    () => false,
  );
}
