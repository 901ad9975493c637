/** What a person says is wrong, in a draft. Each function returns a new draft. */
import type { Expectation } from '../../recorder/capture-types';
import type { PointedElement } from '../../recorder/pointing/point';
import { describeExpectation } from '../../recorder/pointing/expectation';
import { COLORS, MAX_TEXT, type Box, type Input, type Size } from '../../shared/annotation/marks';
import type { Draft } from '../storage';

/** By how much the proportions of a picture of the window may differ from the window's. */
const TOLERANCE = 0.02;

/** Add what the person pointed at, with a mark in the screenshot if that shows it. `picture`: the screenshot's size. */
export function addPointed(draft: Draft, { expectation, box }: PointedElement, picture: Size | null): Draft {
  const added = { ...draft, expectations: [...(draft.expectations ?? []), expectation] };
  const geometry = box && picture && findPlace(box, draft.envelope.environment.viewport, picture);
  if (!geometry) return added;
  const text = describeExpectation(expectation).slice(0, MAX_TEXT);
  const mark: Input = { kind: 'rectangle', geometry, id: null, color: COLORS[0]!.value, text };
  return { ...added, marks: [...(draft.marks ?? []), mark] };
}

/** Remove what is wrong, and its mark. */
export function removeExpectation<T extends { expectations?: Expectation[]; marks?: Input[] }>(
  draft: T,
  removed: Expectation,
): T {
  const expectations = (draft.expectations ?? []).filter((each) => each !== removed);
  const marks = draft.marks?.filter(({ text }) => text !== describeExpectation(removed));
  return { ...draft, expectations, ...(marks && { marks }) };
}

/** Where a box of the window is in a picture of it; null if the picture shows something else. */
function findPlace(box: Box, view: Size | null | undefined, picture: Size): Box | null {
  if (!view) return null;
  const scale = picture.width / view.width;
  if (Math.abs(picture.height / (view.height * scale) - 1) > TOLERANCE) return null; // the full page, or a part
  const [left, top] = [Math.max(0, box.x), Math.max(0, box.y)];
  const width = Math.min(box.x + box.width, view.width) - left;
  const height = Math.min(box.y + box.height, view.height) - top;
  if (width <= 0 || height <= 0) return null;
  return { x: left * scale, y: top * scale, width: width * scale, height: height * scale };
}
