import Popup from './Popup.svelte';
import { start } from './start';

start(Popup);
