import { attachClosestEdge, extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { Attachment } from 'svelte/attachments';
import type { Position } from './board-model.svelte';

export type Edge = 'top' | 'bottom' | null;

/** Scrolls at edges during a drag. It is loaded when a pointer is first pressed; without it, drags work as well. */
const scrolling = new Promise((resolve) => addEventListener('pointerdown', resolve, { once: true }))
  .then(() => import('@atlaskit/pragmatic-drag-and-drop-auto-scroll/element'))
  .catch(() => null);

/** Scroll an element when something is dragged to its edge. */
function scrollAtEdges(element: HTMLElement, axis: 'vertical' | 'horizontal'): () => void {
  let stop: (() => void) | undefined;
  let isGone = false;
  void scrolling.then((library) => {
    if (!isGone) stop = library?.autoScrollForElements({ element, getAllowedAxis: () => axis });
  });
  return () => {
    isGone = true;
    stop?.();
  };
}

/** Make a card draggable and a drop target. `next` returns the ticket below it; `onEdge` gets the hovered edge. */
export function draggableCard(
  id: string,
  column: string,
  next: () => string | null,
  onEdge: (edge: Edge) => void,
): Attachment<HTMLElement> {
  return (element) =>
    combine(
      draggable({ element, getInitialData: () => ({ id }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'id' in source.data && source.data.id !== id,
        getData: ({ input }) =>
          attachClosestEdge(
            { column, id, next: next() },
            { input, element, allowedEdges: ['top', 'bottom'] },
          ),
        onDrag: ({ self }) => onEdge(extractClosestEdge(self.data) as Edge),
        onDragLeave: () => onEdge(null),
        onDrop: () => onEdge(null),
      }),
    );
}

/** Make a lane a drop target: a ticket that is dropped on no card goes to its end. */
export function laneDropTarget(column: string, onHover: (isOver: boolean) => void): Attachment<HTMLElement> {
  return (element) =>
    combine(
      scrollAtEdges(element, 'vertical'),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'id' in source.data,
        getData: () => ({ column, id: null, next: null }),
        onDragEnter: () => onHover(true),
        onDragLeave: () => onHover(false),
        onDrop: () => onHover(false),
      }),
    );
}

/** Monitor drags on the whole board, which scrolls sideways during a drag. `onDrag` gets null at the end of a drag. */
export function boardDragMonitor(
  onDrag: (id: string | null) => void,
  onDrop: (id: string, position: Position) => void,
): Attachment<HTMLElement> {
  return (element) =>
    combine(
      scrollAtEdges(element, 'horizontal'),
      monitorForElements({
        onDragStart: ({ source }) => onDrag(source.data.id as string),
        onDrop: ({ source, location }) => {
          onDrag(null);
          const target = location.current.dropTargets[0]?.data as
            { column: string; id: string | null; next: string | null } | undefined;
          if (!target) return;
          const before =
            extractClosestEdge(target as Record<string, unknown>) === 'bottom' ? target.next : target.id;
          onDrop(source.data.id as string, { column: target.column, before });
        },
      }),
    );
}
