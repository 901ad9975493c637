/** What the extension and the stage say to each other, by a port of this name. Everything is in CSS pixels. */
export const STAGE = 'stage';

/** Where to scroll, and whether what is fixed to the view's upper or lower half stands in this part. */
export interface Part {
  x: number;
  y: number;
  upper: boolean;
  lower: boolean;
}
/** The question where the page stands now. */
export const WHERE = 'where';
export type Order = Part | typeof WHERE;

/** Where the page stands, and how large it is. */
export interface Shown {
  x: number;
  y: number;
  /** The leftmost place; below 0 in pages that are written from right to left. */
  left: number;
  width: number;
  height: number;
  /** What is in view at once, scroll bars left out. */
  view: { width: number; height: number };
  /** The width with the scroll bar: that of a picture of the tab. */
  outer: number;
  dpr: number;
  /** Whether the person zoomed in with two fingers: then a picture of the tab isn't one of the view. */
  pinched: boolean;
}
