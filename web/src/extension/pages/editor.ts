import Editor from './Editor.svelte';
import { start } from './start';

start(Editor);
