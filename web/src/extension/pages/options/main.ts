import { mountPage } from '../mount-page';
import Options from './Options.svelte';

mountPage(Options);
