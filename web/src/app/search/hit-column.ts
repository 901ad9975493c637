import type { Hit } from '../../../generated/api';
import { workspace } from '../core/workspace.svelte';

/** The column of a found ticket, for its icon; only its kind until the project's columns are loaded. */
export function findColumn({ project_id, column_id, resolved }: Hit) {
  const column = workspace.columns(project_id).find((each) => each.id === column_id);
  return column ?? { kind: resolved ? ('done' as const) : ('todo' as const) };
}
