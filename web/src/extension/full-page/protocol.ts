/** The messages between the extension and the scroller, on a port of this name. All lengths are in CSS pixels. */
export const PORT_NAME = 'scroller';

/** Where to scroll, and which elements to show that are fixed to the viewport: those in its upper or lower half. */
export interface Part {
  x: number;
  y: number;
  showsTopFixed: boolean;
  showsBottomFixed: boolean;
}
/** Asks for the page's state without scrolling. */
export const GET_STATE = 'get-state';
export type Command = Part | typeof GET_STATE;

/** The page's scroll position and size. */
export interface PageState {
  x: number;
  y: number;
  /** The smallest scroll position; negative in pages written from right to left. */
  minX: number;
  width: number;
  height: number;
  /** The viewport without its scroll bars. */
  viewport: { width: number; height: number };
  /** The width of the viewport with its scroll bar, which a screenshot includes. */
  outerWidth: number;
  devicePixelRatio: number;
  /** Whether the page is zoomed by pinching; then a screenshot doesn't show the whole viewport. */
  isPinchZoomed: boolean;
}
