import type { Scope } from '../../../../generated/api';

/** The scope matrix of docs/use/tokens.md, in the words that `ticketbox/domain/core/access/scopes.py` has; a test compares them. */
export const SCOPES: { value: Scope; label: string; grants: string; not: string; includes: Scope[] }[] = [
  {
    value: 'read',
    label: 'Read',
    grants:
      'Read companies, projects, columns, tickets, comments, members, captures, annotations, and search.',
    not: 'Writes of any kind.',
    includes: [],
  },
  {
    value: 'comments',
    label: 'Comment',
    grants: 'Post comments on tickets. Includes read.',
    not: 'Ticket edits, assignments, archiving.',
    includes: ['read'],
  },
  {
    value: 'tickets:write',
    label: 'Write tickets',
    grants:
      'Create, update, archive, restore and move tickets, and record the worked-on git branch. Includes read and comments.',
    not: 'Assignment changes.',
    includes: ['read', 'comments'],
  },
  {
    value: 'tickets:assign',
    label: 'Assign people',
    grants: 'Assign and unassign people on tickets, singly or in bulk. Includes read.',
    not: 'Ticket edits, comments.',
    includes: ['read'],
  },
];

/** What tokens are for, most often. */
export const PRESETS: { label: string; scopes: Scope[]; help: string }[] = [
  { label: 'Read tickets', scopes: ['read'], help: 'For reports and searches. It changes nothing.' },
  {
    label: 'Work on tickets',
    scopes: ['tickets:write'],
    help: 'For agents: also comment, and create, change, move and archive tickets.',
  },
  {
    label: 'Work and assign',
    scopes: ['tickets:write', 'tickets:assign'],
    help: 'Also assign people.',
  },
];
