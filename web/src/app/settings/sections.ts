import Bell from '@lucide/svelte/icons/bell';
import Blocks from '@lucide/svelte/icons/blocks';
import Bot from '@lucide/svelte/icons/bot';
import Gauge from '@lucide/svelte/icons/gauge';
import List from '@lucide/svelte/icons/list';
import Mail from '@lucide/svelte/icons/mail';
import Plug from '@lucide/svelte/icons/plug';
import Puzzle from '@lucide/svelte/icons/puzzle';
import Send from '@lucide/svelte/icons/send';
import Settings from '@lucide/svelte/icons/settings';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import SquareKanban from '@lucide/svelte/icons/square-kanban';
import Sun from '@lucide/svelte/icons/sun';
import Tag from '@lucide/svelte/icons/tag';
import User from '@lucide/svelte/icons/user';
import Users from '@lucide/svelte/icons/users';
import type { Component } from 'svelte';

export interface Section {
  id: string;
  label: string;
  icon: Component<{ size?: number }>;
  /** Only admins see it. */
  admin?: boolean;
}

/** The sections of a person's settings, at `/settings/ID`. */
export const ACCOUNT_SECTIONS: Section[] = [
  { id: 'profile', label: 'Profile', icon: User },
  { id: 'notifications', label: 'Notifications', icon: Bell },
  { id: 'tokens', label: 'Agents and tokens', icon: Plug },
  { id: 'apps', label: 'Connected apps', icon: Blocks },
  { id: 'extension', label: 'Browser extension', icon: Puzzle },
  { id: 'sign-in', label: 'Sign-in and sessions', icon: ShieldCheck },
  { id: 'appearance', label: 'Appearance', icon: Sun },
];

/** The sections of a company's settings, at `/companies/COMPANY/ID`. */
export const COMPANY_SECTIONS: Section[] = [
  { id: 'general', label: 'General', icon: Settings },
  { id: 'members', label: 'Members', icon: Users },
  { id: 'invitations', label: 'Invitations', icon: Mail, admin: true },
  { id: 'projects', label: 'Projects', icon: SquareKanban },
  { id: 'labels', label: 'Labels', icon: Tag },
  { id: 'agents', label: 'Agents', icon: Bot },
  { id: 'limits', label: 'Limits', icon: Gauge, admin: true },
  { id: 'webhooks', label: 'Webhooks', icon: Send, admin: true },
  { id: 'audit', label: 'Audit log', icon: List, admin: true },
];
