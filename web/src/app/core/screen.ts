import { MediaQuery } from 'svelte/reactivity';

/** Whether the screen is that of a phone, where one lane fits and the sidebar is a drawer. */
export const phone = new MediaQuery('max-width: 760px');

/** Whether a list of pages has no room beside the shown one. */
export const narrow = new MediaQuery('max-width: 1000px');
