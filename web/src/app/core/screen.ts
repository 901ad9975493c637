import { MediaQuery } from 'svelte/reactivity';

/** Whether the screen is that of a phone, where one lane fits and the sidebar is a drawer. */
export const phone = new MediaQuery('max-width: 760px');
