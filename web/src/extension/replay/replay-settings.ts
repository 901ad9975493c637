/** Which pages have a replay, and how long it is: by the person's setting and the projects' policies. */
import type { Project } from '../../recorder/capture-types';
import type { ReplayOptions } from '../../recorder/replay/channel';
import { chooseProject } from '../pages/popup/draft/choose-project';
import { appState } from '../storage';

export type ReplaySeconds = 0 | 30 | 60 | 120;
export const DEFAULT_SECONDS: ReplaySeconds = 30;

export async function getReplaySeconds(): Promise<ReplaySeconds> {
  return (await appState.get('replaySeconds')) ?? DEFAULT_SECONDS;
}

/** Whether any page is recorded. */
export async function isReplayRecorded(): Promise<boolean> {
  const seconds = await getReplaySeconds();
  return chooseOptions(seconds, (await appState.get('projects')) ?? []).seconds > 0;
}

export async function readReplayOptions(url: string): Promise<ReplayOptions> {
  const projects = (await appState.get('projects')) ?? [];
  const project = chooseProject(projects, url);
  return chooseOptions(await getReplaySeconds(), project ? [project] : projects);
}

/** The options for a page whose report goes to one of these projects: the longest that one of them accepts. */
export function chooseOptions(seconds: ReplaySeconds, projects: Project[]): ReplayOptions {
  // projects that an earlier version stored have no such policy
  const accepted = projects.map(({ capture_policy: policy }) => policy.replay ?? 0);
  return { seconds: Math.min(seconds, Math.max(0, ...accepted)) };
}
