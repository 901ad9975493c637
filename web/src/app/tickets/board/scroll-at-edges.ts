import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { monitorForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { DragLocationHistory, Input } from '@atlaskit/pragmatic-drag-and-drop/types';

/** Names along an axis: of an element's box, and of what is scrolled in it. */
const AXES = {
  x: { start: 'left', size: 'width', scrolled: 'scrollLeft', visible: 'clientWidth', whole: 'scrollWidth' },
  y: { start: 'top', size: 'height', scrolled: 'scrollTop', visible: 'clientHeight', whole: 'scrollHeight' },
} as const;
export type Axis = keyof typeof AXES;

const ZONE = { share: 0.25, px: 180 }; // of an element's size, at each of its edges, and at most
const PX_PER_MS = 0.9; // in the outer half of a zone
const FRAME_MS = 1000 / 60; // a late frame scrolls no further than another
const RISE_MS = 400; // from standing still to the full speed

/**
 * Scroll an element while something is dragged in it near an edge, faster the nearer it is. Atlassian's library for this
 * looks up what is below the pointer in each frame, wherever that is, which took a fifth of a drag's processor time.
 */
export function scrollAtEdges(element: HTMLElement, axes: Axis[]): () => void {
  let input: Input;
  let frame: number | undefined;
  let began: number;
  let last: number;

  function scroll(now: number) {
    const [left, top] = (['x', 'y'] as const).map((axis) =>
      axes.includes(axis) ? measurePull(element, axis, input) : 0,
    );
    if (!left && !top) return stop();
    if (frame === undefined) began = last = now;
    const ms = Math.max(now - last, 0); // a frame's time can be before that of what led to it
    const px = PX_PER_MS * Math.min(ms, FRAME_MS) * Math.min((now - began) / RISE_MS, 1);
    element.scrollBy({ left: roundUp(left! * px), top: roundUp(top! * px) });
    last = now;
    frame = requestAnimationFrame(scroll);
  }

  function stop() {
    if (frame !== undefined) cancelAnimationFrame(frame);
    frame = undefined;
  }

  function follow({ location }: { location: DragLocationHistory }) {
    input = location.current.input;
    if (frame === undefined) scroll(performance.now());
  }

  return combine(monitorForElements({ onDrag: follow, onDropTargetChange: follow, onDrop: stop }), stop);
}

/** How much an edge pulls, from -1 to 1: nothing if the pointer isn't near one, or if there is nothing to scroll to. */
function measurePull(element: HTMLElement, axis: Axis, { clientX, clientY }: Input): number {
  const box = element.getBoundingClientRect();
  if (clientX < box.left || clientX > box.right || clientY < box.top || clientY > box.bottom) return 0;
  const { start, size, scrolled, visible, whole } = AXES[axis];
  const zone = Math.min(box[size] * ZONE.share, ZONE.px);
  const before = (axis === 'x' ? clientX : clientY) - box[start];
  const after = box[size] - before;
  if (Math.min(before, after) > zone) return 0;
  const pull = Math.min(2 * (1 - Math.min(before, after) / zone), 1);
  if (before < after) return element[scrolled] > 0 ? -pull : 0;
  return element[scrolled] + element[visible] < element[whole] - 1 ? pull : 0;
}

/** Away from zero: a browser scrolls whole pixels. */
function roundUp(px: number): number {
  return Math.sign(px) * Math.ceil(Math.abs(px));
}
