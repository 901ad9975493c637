import { mountPage } from '../mount-page';
import Popup from './Popup.svelte';

mountPage(Popup);
