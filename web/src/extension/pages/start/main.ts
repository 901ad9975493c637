import { mountPage } from '../mount-page';
import Start from './Start.svelte';

mountPage(Start);
