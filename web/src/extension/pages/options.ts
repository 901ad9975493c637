import Options from './Options.svelte';
import { start } from './start';

start(Options);
