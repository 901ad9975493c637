import type { Company, Column, Me, Member, Project } from '../../../generated/api';
import { api, data, everything } from './client';
import { boot } from './boot';

/** Who is signed in, and the companies, projects and people around them. Loaded once, kept fresh by events. */
class Workspace {
  me = $state<Me | null>(boot.me);
  companies = $state<Company[]>([]);
  projects = $state<Project[]>([]);
  #members = $state<Record<string, Member[]>>({});
  #columns = $state<Record<string, Column[]>>({});
  #loading: Promise<void> | null = null;

  /** Companies and projects, once. Raises Problem. */
  load(): Promise<void> {
    return (this.#loading ??= this.reload().catch((error) => {
      this.#loading = null;
      throw error;
    }));
  }

  async reload(): Promise<void> {
    const [companies, projects] = await Promise.all([
      everything((cursor) => api.GET('/companies', { params: { query: { cursor, limit: 100 } } })),
      everything((cursor) => api.GET('/projects', { params: { query: { cursor, limit: 100 } } })),
    ]);
    this.companies = companies;
    this.projects = projects;
  }

  async reloadMe(): Promise<void> {
    this.me = await data(api.GET('/me'));
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

  /** The people of a company, as far as they are loaded. */
  members(company: string): Member[] {
    return this.#members[company] ?? [];
  }

  async loadMembers(company: string, { fresh = false } = {}): Promise<Member[]> {
    if (fresh || !this.#members[company]) {
      this.#members[company] = await everything((cursor) =>
        api.GET('/companies/{company_id}/members', {
          params: { path: { company_id: company }, query: { cursor, limit: 100 } },
        }),
      );
    }
    return this.#members[company];
  }

  /** A project's columns from the left, as far as they are loaded. */
  columns(project: string): Column[] {
    return this.#columns[project] ?? [];
  }

  async loadColumns(project: string, { fresh = false } = {}): Promise<Column[]> {
    if (fresh || !this.#columns[project]) {
      const page = await data(
        api.GET('/projects/{project_id}/columns', { params: { path: { project_id: project } } }),
      );
      this.#columns[project] = page.items;
    }
    return this.#columns[project];
  }

  /** The labels of the tickets that changed last, in a project or everywhere. */
  async loadLabels(project?: string): Promise<string[]> {
    const query = { project_id: project, status: 'all', sort: '-updated' as const, limit: 100 };
    const page = await data(api.GET('/tickets', { params: { query } }));
    return [...new Set(page.items.flatMap((each) => each.labels))].sort((a, b) => a.localeCompare(b));
  }

  /** Whether the caller's role in a company reaches a rank. */
  may(company: string | undefined, least: 'member' | 'admin' | 'owner'): boolean {
    const ranks = ['viewer', 'member', 'admin', 'owner'];
    const role = this.companies.find((each) => each.id === company)?.role;
    return role !== undefined && ranks.indexOf(role) >= ranks.indexOf(least);
  }
}

export const workspace = new Workspace();
