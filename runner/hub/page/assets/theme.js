// Sets the theme before anything is drawn: a page that flashes white at night is worse than a blocking script of ten lines.
(() => {
  let wanted = null;
  try {
    wanted = localStorage.getItem('runner.theme');
  } catch { /* without storage the system's theme counts */ }
  if (wanted === 'dark' || wanted === 'light') document.documentElement.dataset.theme = wanted;
})();
