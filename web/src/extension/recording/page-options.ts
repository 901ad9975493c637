/** What a page's scripts must know of the projects before they record: which parts are hidden, and for how long a replay is. */
import { chooseProject } from '../draft/choose-project';
import type { ReplayOptions } from '../../recorder/replay/channel';
import { chooseSeconds, getReplaySeconds } from '../replay/replay-settings';
import { appState } from '../storage';

/** What the record reader asks the background. The answer are the options for its page, or null. */
export interface OptionsQuestion {
  kind: 'read-page-options';
}

export function isOptionsQuestion(message: unknown): message is OptionsQuestion {
  return (message as OptionsQuestion).kind === 'read-page-options';
}

/** Ask the background; null if it can't answer, because the extension was updated or removed. */
export async function requestOptions(): Promise<ReplayOptions | null> {
  const question: OptionsQuestion = { kind: 'read-page-options' };
  try {
    return await chrome.runtime.sendMessage<OptionsQuestion, ReplayOptions | null>(question);
  } catch {
    return null;
  }
}

/** The options for a page. The masks of all projects apply: a report can go to any of them. */
export async function readPageOptions(url: string): Promise<ReplayOptions> {
  const projects = (await appState.get('projects')) ?? [];
  const project = chooseProject(projects, url);
  const masks = projects.flatMap(({ capture_policy: policy }) => policy.mask_selectors);
  const seconds = chooseSeconds(await getReplaySeconds(), project ? [project] : projects);
  return { seconds, masks: [...new Set(masks)] };
}
