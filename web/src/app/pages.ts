import type { Component } from 'svelte';
import type { Route } from './core/navigation/routes';

export type LoadPage = () => Promise<{ default: Component }>;

const loadSettings: LoadPage = () => import('./settings/SettingsPage.svelte');
// Each page is a separate chunk.
const PAGES: Record<Route['name'], LoadPage> = {
  home: () => import('./tickets/board/HomePage.svelte'),
  board: () => import('./tickets/board/BoardPage.svelte'),
  ticket: () => import('./tickets/detail/TicketPage.svelte'),
  settings: loadSettings,
  company: loadSettings,
  inbox: () => import('./events/InboxPage.svelte'),
  search: () => import('./search/SearchPage.svelte'),
  invitation: () => import('./companies/members/InvitationPage.svelte'),
  notFound: () => import('./shell/NotFoundPage.svelte'),
};

/** Return the function that loads the page of a route. */
export function findPage(route: Route): LoadPage {
  return PAGES[route.name];
}
