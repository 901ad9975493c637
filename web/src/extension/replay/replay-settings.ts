/** Which pages have a replay, and how long it is: by the person's setting and the projects' policies. */
import type { Project } from '../../recorder/capture-types';
import { appState, type ReplaySeconds } from '../storage';

export const DEFAULT_SECONDS: ReplaySeconds = 30;

export async function getReplaySeconds(): Promise<ReplaySeconds> {
  return (await appState.get('replaySeconds')) ?? DEFAULT_SECONDS;
}

/** Whether any page is recorded. */
export async function isReplayRecorded(): Promise<boolean> {
  const seconds = await getReplaySeconds();
  return chooseSeconds(seconds, (await appState.get('projects')) ?? []) > 0;
}

/** How many seconds of a page are kept whose report goes to one of these projects: the most that one of them accepts. */
export function chooseSeconds(seconds: ReplaySeconds, projects: Project[]): number {
  const accepted = projects.map(({ capture_policy: policy }) => policy.replay);
  return Math.min(seconds, Math.max(0, ...accepted));
}
