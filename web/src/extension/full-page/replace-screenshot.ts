import type { Draft } from '../storage';
import type { FullPageScreenshot } from './full-page';

/** Create a draft that has the screenshot of the full page. */
export function replaceScreenshot(draft: Draft, { screenshot, health }: FullPageScreenshot): Draft {
  const { envelope } = draft;
  return {
    ...draft,
    screenshot,
    envelope: { ...envelope, health: { ...envelope.health, screenshot: health } },
  };
}
