import type { Company, Project } from '../../../generated/api';
import { router } from './navigation/router.svelte';
import { workspace } from './workspace.svelte';

const KEY = 'last-project';

/** The current company and project: from the address, else from the last visit. */
class Current {
  /** The project of the open ticket, which the address does not name. */
  ticketProject = $state<string | null>(null);
  #last = $state(localStorage.getItem(KEY));
  #company = $state<string | null>(null);

  readonly project: Project | undefined = $derived.by(() => {
    const route = router.route;
    if (route.name === 'board') return workspace.project(route.project);
    if (route.name === 'ticket' && this.ticketProject) return workspace.project(this.ticketProject);
    return undefined;
  });

  readonly view = $derived(router.route.name === 'board' ? router.route.view : null);

  readonly company: Company | undefined = $derived.by(() => {
    const route = router.route;
    const id =
      (route.name === 'company' ? route.company : undefined) ??
      this.project?.company_id ??
      this.#company ??
      this.lastProject?.company_id;
    return workspace.companies.find((each) => each.id === id) ?? workspace.companies[0];
  });

  /** The project to open if the address names none. */
  readonly lastProject: Project | undefined = $derived(
    workspace.project(this.#last ?? '') ??
      workspace.projects.find((each) => each.company_id === this.#company) ??
      workspace.projects[0],
  );

  /** The project that a new ticket belongs to. */
  readonly projectForTickets: Project | undefined = $derived(this.project ?? this.lastProject);

  readonly canCreateTicket = $derived(workspace.hasRole(this.projectForTickets?.company_id, 'member'));

  rememberProject(project: string): void {
    if (this.#last === project) return;
    this.#last = project;
    localStorage.setItem(KEY, project);
  }

  /** Open a company's first board. */
  switchCompany(company: string): void {
    this.#company = company;
    const first = workspace.projectsOf(company)[0];
    router.go(first ? `/projects/${first.id}` : `/companies/${company}/projects`);
  }
}

export const current = new Current();
