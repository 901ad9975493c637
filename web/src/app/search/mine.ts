/** The query of the sidebar's link “Assigned to me”. */
export const MINE = 'assignee:me is:open';
