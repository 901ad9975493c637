import type { Locator, Page } from '@playwright/test';

/** Those of Playwright, and what layouts need. What they found out is judged at the end. */
interface Checks {
  not: Checks;
  toHaveText(text: string): Promise<void>;
  toHaveTextOf(other: Locator): Promise<void>;
  toHaveValue(value: string): Promise<void>;
  toHaveCount(count: number): Promise<void>;
  toHaveAttribute(name: string, value: string): Promise<void>;
  toHaveURL(path: string): Promise<void>;
  toHaveTitle(title: string): Promise<void>;
  toBeVisible(): Promise<void>;
  toBeVisibleNear(other: Locator): Promise<void>;
  toBeHidden(): Promise<void>;
  toBeEnabled(): Promise<void>;
  toBeDisabled(): Promise<void>;
  toBeChecked(): Promise<void>;
  toFit(): Promise<void>;
  toBeInside(other?: Locator): Promise<void>;
  toBeApartFrom(other: Locator): Promise<void>;
}

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
  scroll(x: number, y: number): Promise<void>;
  step(number: number, act: (part: number) => Promise<unknown>): Promise<void>;
  step(number: number, element: Locator, act: (it: Locator, part: number) => Promise<unknown>): Promise<void>;
  expect(subject: Locator | Page): Checks;
  finish(): Promise<void>;
}>;
