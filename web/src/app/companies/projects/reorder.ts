import { attachClosestEdge, extractClosestEdge } from '@atlaskit/pragmatic-drag-and-drop-hitbox/closest-edge';
import { combine } from '@atlaskit/pragmatic-drag-and-drop/combine';
import { draggable, dropTargetForElements } from '@atlaskit/pragmatic-drag-and-drop/element/adapter';
import type { Attachment } from 'svelte/attachments';

/** Where a dragged row would be dropped: before this index, counted with the row at its old position. */
export interface Drop {
  index: number;
}

/** Make a row draggable within its list. */
export function reorderableRow(
  id: string,
  index: number,
  onHover: (drop: Drop | null) => void,
  onDrop: (id: string, index: number) => void,
): Attachment<HTMLElement> {
  const dropIndex = (data: Record<string, unknown>) =>
    index + (extractClosestEdge(data) === 'bottom' ? 1 : 0);
  return (element) =>
    combine(
      draggable({ element, getInitialData: () => ({ row: id }) }),
      dropTargetForElements({
        element,
        canDrop: ({ source }) => 'row' in source.data && source.data.row !== id,
        getData: ({ input }) =>
          attachClosestEdge({ row: id }, { input, element, allowedEdges: ['top', 'bottom'] }),
        onDrag: ({ self }) => onHover({ index: dropIndex(self.data) }),
        onDragLeave: () => onHover(null),
        onDrop: ({ self, source }) => {
          onHover(null);
          onDrop(source.data.row as string, dropIndex(self.data));
        },
      }),
    );
}
