import { mountPage } from '../mount-page';
import Editor from './Editor.svelte';

mountPage(Editor);
