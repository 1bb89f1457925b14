// The theme: as the system, or what was chosen, kept in this browser.
import { announce } from './announce.js';

const names = { auto: 'Auto', dark: 'Dark', light: 'Light' };
const order = ['auto', 'dark', 'light'];

/** Makes a button turn through the themes, and gives the function that does. */
export function theming(button) {
  const root = document.documentElement;
  const label = () => {
    const now = root.dataset.theme ?? 'auto';
    button.textContent = names[now];
    button.setAttribute('aria-label', `Theme: ${now === 'auto' ? 'as the system' : now}`);
    return now;
  };
  const next = () => {
    const now = order[(order.indexOf(root.dataset.theme ?? 'auto') + 1) % order.length];
    if (now === 'auto') delete root.dataset.theme;
    else root.dataset.theme = now;
    try {
      localStorage.setItem('runner.theme', now);
    } catch { /* it counts until the page is closed */ }
    announce(`Theme: ${label() === 'auto' ? 'as the system' : now}.`);
  };
  label();
  button.addEventListener('click', next);
  return next;
}
