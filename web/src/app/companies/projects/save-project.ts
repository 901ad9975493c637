import type { paths, Project } from '../../../../generated/api';
import { withPassword } from '../../core/confirmation.svelte';
import { api } from '../../core/server/client';
import { toasts } from '../../core/toasts.svelte';
import { workspace } from '../../core/workspace.svelte';

type Fields = NonNullable<
  paths['/projects/{project_id}']['patch']['requestBody']
>['content']['application/json'];

/** Save some fields of a project. Raises Problem. */
export async function saveProject(project: Project, body: Fields): Promise<void> {
  const params = { path: { project_id: project.id } };
  await withPassword(() => api.PATCH('/projects/{project_id}', { params, body }));
  await workspace.reload();
  toasts.show('Project saved');
}
