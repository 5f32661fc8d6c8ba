// Keeps the page as it is in the cluster. All rows come as the server renders them; nothing of the cluster is made into HTML here.
'use strict';
(() => {
  const body = document.body, live = document.getElementById('live'), search = document.getElementById('search');
  const lang = document.documentElement.lang;
  const parts = Object.fromEntries([...document.querySelectorAll('[data-rows]')].map(e => [e.dataset.rows, e]));
  const ago = new Intl.RelativeTimeFormat(lang, {numeric: 'always', style: 'narrow'});
  let version = body.dataset.version;

  // Times are told as they are, and here as how long ago.
  function tellTimes(root) {
    for (const time of root.querySelectorAll('time')) {
      const at = time.getAttribute('datetime'), seconds = Math.round((Date.parse(at) - Date.now()) / 1000), abs = Math.abs(seconds);
      time.title = at;
      time.textContent = abs < 60 ? ago.format(seconds, 'second') : abs < 3600 ? ago.format(Math.trunc(seconds / 60), 'minute')
        : abs < 86400 ? ago.format(Math.trunc(seconds / 3600), 'hour') : ago.format(Math.trunc(seconds / 86400), 'day');
    }
  }
  const isClosed = row => row.tagName === 'DETAILS' && !row.open;
  function tellAllTimes() {
    if (document.hidden) return;
    for (const part of Object.values(parts)) for (const row of part.children) if (!isClosed(row)) tellTimes(row);
  }
  document.addEventListener('toggle', event => { if (event.target.open) tellTimes(event.target); }, true);

  function filter(row) { row.hidden = search.value !== '' && !row.textContent.toLowerCase().includes(search.value.toLowerCase()); }
  function filterAll() { for (const part of Object.values(parts)) for (const row of part.children) filter(row); }
  search.form.addEventListener('submit', event => event.preventDefault());
  search.addEventListener('input', filterAll);

  function ready(row) {
    filter(row);
    if (!isClosed(row)) tellTimes(row);
  }
  function make(html) {
    const template = document.createElement('template');
    template.innerHTML = html;
    return template.content.firstElementChild;
  }
  // The rows behind those of the first paint, which are text until now.
  function takeRest() {
    for (const rest of document.querySelectorAll('main noscript')) {
      const rows = [...make(rest.textContent).querySelector('[id]').parentElement.children];
      rows.forEach(ready);
      parts[rest.closest('section').id].append(...rows);
      rest.remove();
    }
  }
  function take(change) {
    for (const id of change.gone) document.getElementById(id)?.remove();
    for (const {part, id, after, html} of change.rows) {
      const fresh = make(html), old = document.getElementById(id), focused = old?.contains(document.activeElement);
      if (old) {
        if (old.open) fresh.open = true;
        old.replaceWith(fresh);
      }
      ready(fresh);
      const before = after === '' ? null : document.getElementById(after);
      if (before) { if (before.nextElementSibling !== fresh) before.after(fresh); }
      else if (parts[part].firstElementChild !== fresh) parts[part].prepend(fresh);
      if (focused) focus(fresh);  // last: what is moved loses it
    }
    for (const [part, count] of Object.entries(change.counts)) {
      const at = document.getElementById('count:' + part);
      if (at) at.textContent = count;
    }
    version = change.version;
    body.dataset.version = version;
  }

  function listen() {
    const source = new EventSource('/events?lang=' + encodeURIComponent(lang) + '&from=' + encodeURIComponent(version));
    source.addEventListener('open', () => { live.textContent = body.dataset.live; live.className = 'good'; });
    source.addEventListener('change', event => take(JSON.parse(event.data)));
    source.addEventListener('anew', () => location.reload());
    source.addEventListener('error', () => {
      source.close();
      live.textContent = body.dataset.broken;
      live.className = 'warn';
      setTimeout(listen, 2000);
    });
  }

  function focus(row) {
    const target = row.tagName === 'DETAILS' ? row.firstElementChild : row;
    if (target === row) row.tabIndex = -1;
    target.focus();
  }
  function step(by) {
    const active = document.activeElement, rows = Object.values(parts).flatMap(part => [...part.children]).filter(row => !row.hidden);
    const at = rows.findIndex(row => row.contains(active)), section = active.closest('section');
    const next = at >= 0 ? rows[Math.min(Math.max(at + by, 0), rows.length - 1)] : rows.find(row => section === null || section.contains(row));
    if (!next) return;
    focus(next);
    next.scrollIntoView({block: 'nearest'});
  }
  document.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') { search.value = ''; filterAll(); search.blur(); return; }
    if (event.target === search) return;
    const section = ['queues', 'gangs', 'nodes', 'jobs', 'paddlejobs'][Number(event.key) - 1];
    if (event.key === '/') search.focus();
    else if (event.key === 'j') step(1);
    else if (event.key === 'k') step(-1);
    else if (event.key === '?') { const keys = document.getElementById('keys'); keys.open = !keys.open; keys.scrollIntoView(); }
    else if (section) { const at = document.getElementById(section); at.scrollIntoView(); at.focus(); }
    else return;
    event.preventDefault();
  });

  function begin() {
    takeRest();
    listen();
  }
  tellAllTimes();
  setInterval(tellAllTimes, 30000);
  document.addEventListener('visibilitychange', tellAllTimes);
  if (document.hidden) begin();  // nothing is painted there
  else requestAnimationFrame(() => setTimeout(begin));
})();
