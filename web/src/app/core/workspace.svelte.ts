import type { Company, Column, Me, Member, Project } from '../../../generated/api';
import { api, unwrap, fetchAll } from './server/client';
import { boot } from './server/boot';

/** The signed-in user and their companies, projects, members and columns. Loaded once, then shared. */
class Workspace {
  me = $state<Me | null>(boot.me);
  companies = $state<Company[]>([]);
  projects = $state<Project[]>([]);
  #members = $state<Record<string, Member[]>>({});
  #columns = $state<Record<string, Column[]>>({});
  #loading: Promise<void> | null = null;

  /** Load companies and projects, once. Raises Problem. */
  load(): Promise<void> {
    return (this.#loading ??= this.reload().catch((error) => {
      this.#loading = null;
      throw error;
    }));
  }

  async reload(): Promise<void> {
    const [companies, projects] = await Promise.all([
      fetchAll((cursor) => api.GET('/companies', { params: { query: { cursor, limit: 100 } } })),
      fetchAll((cursor) => api.GET('/projects', { params: { query: { cursor, limit: 100 } } })),
    ]);
    this.companies = companies;
    this.projects = projects;
  }

  async reloadMe(): Promise<void> {
    this.me = await unwrap(api.GET('/me'));
  }

  project(id: string): Project | undefined {
    return this.projects.find((project) => project.id === id);
  }

  company(id: string): Company | undefined {
    return this.companies.find((company) => company.id === id);
  }

  projectsOf(company: string): Project[] {
    return this.projects.filter((project) => project.company_id === company);
  }

  /** The loaded members of a company. */
  members(company: string): Member[] {
    return this.#members[company] ?? [];
  }

  async loadMembers(company: string, { fresh = false } = {}): Promise<Member[]> {
    if (fresh || !this.#members[company]) {
      this.#members[company] = await fetchAll((cursor) =>
        api.GET('/companies/{company_id}/members', {
          params: { path: { company_id: company }, query: { cursor, limit: 100 } },
        }),
      );
    }
    return this.#members[company];
  }

  /** A project's loaded columns, from left to right. */
  columns(project: string): Column[] {
    return this.#columns[project] ?? [];
  }

  async loadColumns(project: string, { fresh = false } = {}): Promise<Column[]> {
    if (fresh || !this.#columns[project]) {
      const page = await unwrap(
        api.GET('/projects/{project_id}/columns', { params: { path: { project_id: project } } }),
      );
      this.#columns[project] = page.items;
    }
    return this.#columns[project];
  }

  /** Whether the signed-in user has at least this role in a company. */
  hasRole(company: string | undefined, minimum: 'member' | 'admin' | 'owner'): boolean {
    const ranks = ['viewer', 'member', 'admin', 'owner'];
    const role = this.companies.find((each) => each.id === company)?.role;
    return role !== undefined && ranks.indexOf(role) >= ranks.indexOf(minimum);
  }
}

export const workspace = new Workspace();
