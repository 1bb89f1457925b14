// Notifications of the browser, for who asked for them and does not look.
import { byId } from './dom.js';
import { proposer, title } from './shape.js';
import { visible } from './visible.js';

/** Offers notifications where the browser can and nobody said no; `show` selects the card of an id. */
export function notifications(store, show) {
  if (!('Notification' in window)) return;
  const button = byId('notify');
  const offer = () => {
    button.hidden = Notification.permission !== 'default';
  };
  button.addEventListener('click', async () => {
    await Notification.requestPermission();
    offer();
  });
  offer();
  store.addEventListener('proposed', ({ detail: a }) => {
    if (Notification.permission !== 'granted' || document.hasFocus()) return;
    // Not everything that has the constructor lets a page use it.
    try {
      const n = new Notification(`${proposer(a)} asks, in ${store.projectName(a.projectId)}`, { body: visible(title(a)).slice(0, 200), tag: a.id });
      n.addEventListener('click', () => {
        window.focus();
        show(a.id);
        n.close();
      });
    } catch { /* the queue shows it all the same */ }
  });
}
