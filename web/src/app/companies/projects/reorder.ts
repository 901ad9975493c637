import { attachClosestEdge, extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { Attachment } from 'svelte/attachments';

/** Before which row a dragged one would land, counted from 0 while it still stands in its old place. */
export interface Drop {
  at: number;
}

/** A row that can be dragged to another place in its list. */
export function reorder(
  id: string,
  index: number,
  over: (drop: Drop | null) => void,
  dropped: (id: string, at: number) => void,
): Attachment<HTMLElement> {
  const at = (data: Record<string, unknown>) => index + (extractClosestEdge(data) === 'bottom' ? 1 : 0);
  return (element) =>
    combine(
      draggable({ element, getInitialData: () => ({ row: id }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'row' in source.data && source.data.row !== id,
        getData: ({ input }) =>
          attachClosestEdge({ row: id }, { input, element, allowedEdges: ['top', 'bottom'] }),
        onDrag: ({ self }) => over({ at: at(self.data) }),
        onDragLeave: () => over(null),
        onDrop: ({ self, source }) => {
          over(null);
          dropped(source.data.row as string, at(self.data));
        },
      }),
    );
}
