import { workspace } from '../../core/workspace.svelte';

const key = (company: string) => `first-steps-${company}-${workspace.me?.user.id}`;

/** Whether the person dismissed a company's first steps in this browser, or has done them. */
export const areEnded = (company: string): boolean => localStorage.getItem(key(company)) !== null;

export const keepEnded = (company: string): void => localStorage.setItem(key(company), 'ended');
