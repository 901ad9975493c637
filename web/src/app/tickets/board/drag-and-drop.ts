import { autoScrollForElements } from '@atlaskit/pragmatic-drag-and-drop-auto-scroll/element';
import { attachClosestEdge, extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { Attachment } from 'svelte/attachments';
import type { Place } from './board.svelte';

/** A card that can be dragged, and dropped beside. `next` gives the ticket below it. */
export function card(
  id: string,
  column: string,
  next: () => string | null,
  over: (edge: Edge) => void,
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
        onDrag: ({ self }) => over(extractClosestEdge(self.data) as Edge),
        onDragLeave: () => over(null),
        onDrop: () => over(null),
      }),
    );
}

export type Edge = 'top' | 'bottom' | null;

/** A column: what is dropped beside no card goes to its end. */
export function lane(column: string, over: (is: boolean) => void): Attachment<HTMLElement> {
  return (element) =>
    combine(
      autoScrollForElements({ element, getAllowedAxis: () => 'vertical' }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'id' in source.data,
        getData: () => ({ column, id: null, next: null }),
        onDragEnter: () => over(true),
        onDragLeave: () => over(false),
        onDrop: () => over(false),
      }),
    );
}

/** The board as a whole: scrolls sideways while a card is dragged, and hears of drops. */
export function board(
  dragged: (id: string | null) => void,
  dropped: (id: string, place: Place) => void,
): Attachment<HTMLElement> {
  return (element) =>
    combine(
      autoScrollForElements({ element, getAllowedAxis: () => 'horizontal' }),
      monitorForElements({
        onDragStart: ({ source }) => dragged(source.data.id as string),
        onDrop: ({ source, location }) => {
          dragged(null);
          const target = location.current.dropTargets[0]?.data as
            { column: string; id: string | null; next: string | null } | undefined;
          if (!target) return;
          const before =
            extractClosestEdge(target as Record<string, unknown>) === 'bottom' ? target.next : target.id;
          dropped(source.data.id as string, { column: target.column, before });
        },
      }),
    );
}
