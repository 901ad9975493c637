import './fonts.css';
import '../shared/ui/base.css';
import { mount } from 'svelte';
import App from './App.svelte';
import { applyTheme } from './core/theme.svelte';

applyTheme();
mount(App, { target: document.getElementById('app')! });
