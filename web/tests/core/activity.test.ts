import { expect, test } from 'vitest';
import { Activity } from '../../src/app/core/server/activity';

test.each(['pointerdown', 'pointermove', 'keydown', 'wheel', 'touchstart'])(
  'calls belong to the person for a minute after %s',
  (kind) => {
    let now = 1_000_000;
    const page = new EventTarget();
    const activity = new Activity(page, () => now);
    expect(activity.isBackground()).toBe(false);
    now += 60_001;
    expect(activity.isBackground()).toBe(true);
    page.dispatchEvent(new Event('focus'));
    expect(activity.isBackground()).toBe(true);
    page.dispatchEvent(new Event(kind));
    expect(activity.isBackground()).toBe(false);
  },
);
