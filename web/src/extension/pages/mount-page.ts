import './page.css';
import { mount, type Component } from 'svelte';

export function mountPage(page: Component): void {
  mount(page, { target: document.getElementById('app')! });
}
