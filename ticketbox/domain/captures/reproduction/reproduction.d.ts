import type { Locator, Page } from '@playwright/test';

export function replayCapture(
  page: Page,
  testInfo: { file: string },
  options?: { unknown?: 'pass' | 'fail'; offline?: boolean; live?: boolean },
): Promise<{
  open(path: string): Promise<void>;
  arrive(path: string): Promise<void>;
  answer(how: 'accept' | 'dismiss', text?: string): void;
  attach(it: Locator, name: string): Promise<void>;
  choose(it: Locator): Promise<void>;
  drag(it: Locator, target: Locator, from?: number[], to?: number[]): Promise<void>;
  step(number: number, act: (part: number) => Promise<unknown>): Promise<void>;
  step(number: number, element: Locator, act: (it: Locator, part: number) => Promise<unknown>): Promise<void>;
  finish(): Promise<void>;
}>;
