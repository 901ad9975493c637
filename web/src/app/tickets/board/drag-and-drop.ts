import { attachClosestEdge, extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import {
  draggable,
  dropTargetForElements,
  monitorForElements,
} from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { Attachment } from 'svelte/attachments';
import type { Position } from './board-model.svelte';
import { scrollAtEdges, type Axis } from './scroll-at-edges';

export type Edge = 'top' | 'bottom' | null;

/** A column, or the part of it in a swimlane. */
export interface Cell {
  column: string;
  swimlane?: string;
}

type Target = Cell & { id: string | null; next: string | null };

/**
 * Make a card draggable and a drop target. `next` returns the ticket below it in its column; `onEdge` gets the hovered
 * edge.
 */
export function draggableCard(
  id: string,
  cell: Cell,
  next: () => string | null,
  onEdge: (edge: Edge) => void,
): Attachment<HTMLElement> {
  return (element) =>
    combine(
      draggable({ element, getInitialData: () => ({ ...cell, id }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'id' in source.data && source.data.id !== id,
        getData: ({ input }) =>
          attachClosestEdge(
            { ...cell, id, next: next() },
            { input, element, allowedEdges: ['top', 'bottom'] },
          ),
        onDrag: ({ self }) => onEdge(extractClosestEdge(self.data) as Edge),
        onDragLeave: () => onEdge(null),
        onDrop: () => onEdge(null),
      }),
    );
}

/** Make a lane or cell a drop target: a ticket that is dropped on no card goes to its end. */
export function cellDropTarget(cell: Cell, onHover: (isOver: boolean) => void): Attachment<HTMLElement> {
  return (element) =>
    dropTargetForElements({
      element,
      canDrop: ({ source }) => 'id' in source.data,
      getData: () => ({ ...cell, id: null, next: null }),
      onDragEnter: () => onHover(true),
      onDragLeave: () => onHover(false),
      onDrop: () => onHover(false),
    });
}

/** Make a lane a drop target that scrolls. */
export function laneDropTarget(column: string, onHover: (isOver: boolean) => void): Attachment<HTMLElement> {
  const target = cellDropTarget({ column }, onHover);
  return (element) => combine(scrollAtEdges(element, ['y']), target(element) as () => void);
}

/**
 * Monitor drags on the whole board, which scrolls along the axes during a drag. `onDrag` gets null at the end of a drag.
 */
export function boardDragMonitor(
  axes: Axis[],
  onDrag: (id: string | null, swimlane?: string) => void,
  onDrop: (id: string, position: Position) => void,
): Attachment<HTMLElement> {
  return (element) =>
    combine(
      scrollAtEdges(element, axes),
      monitorForElements({
        onDragStart: ({ source }) => onDrag(source.data.id as string, source.data.swimlane as string),
        onDrop: ({ source, location }) => {
          onDrag(null);
          const target = location.current.dropTargets[0]?.data as Target | undefined;
          if (!target) return;
          const before =
            extractClosestEdge(target as unknown as Record<string, unknown>) === 'bottom'
              ? target.next
              : target.id;
          const { column, swimlane } = target;
          onDrop(source.data.id as string, { column, before, swimlane });
        },
      }),
    );
}
