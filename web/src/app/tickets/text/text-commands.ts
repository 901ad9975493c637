import Code from '@lucide/svelte/icons/code';
import Heading from '@lucide/svelte/icons/heading';
import List from '@lucide/svelte/icons/list';
import ListChecks from '@lucide/svelte/icons/list-checks';
import ListOrdered from '@lucide/svelte/icons/list-ordered';
import ListTree from '@lucide/svelte/icons/list-tree';
import TextQuote from '@lucide/svelte/icons/text-quote';
import type { Component } from 'svelte';

/** What `/` at the start of a line inserts. The caret is placed at `|`, else at the end. */
export interface TextCommand {
  label: string;
  icon: Component<{ size?: number }>;
  insert: string;
}

const COMMANDS: TextCommand[] = [
  { label: 'Heading', icon: Heading, insert: '## ' },
  { label: 'Bulleted list', icon: List, insert: '- ' },
  { label: 'Numbered list', icon: ListOrdered, insert: '1. ' },
  { label: 'Task list', icon: ListChecks, insert: '- [ ] ' },
  { label: 'Quote', icon: TextQuote, insert: '> ' },
  { label: 'Code block', icon: Code, insert: '```\n|\n```\n' },
  {
    label: 'Steps to reproduce',
    icon: ListTree,
    insert: '## Steps to reproduce\n\n1. |\n\n## Expected\n\n\n\n## Actual\n\n\n',
  },
];

/** The commands with a word that begins with the query. */
export function suggestCommands(query: string): TextCommand[] {
  const wanted = query.toLowerCase();
  return COMMANDS.filter(({ label }) => {
    const lower = label.toLowerCase();
    return lower.startsWith(wanted) || lower.split(' ').some((word) => word.startsWith(wanted));
  });
}
