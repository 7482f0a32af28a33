/**
 * An audit of what people who see little, hear the page, or use only the keyboard need (WCAG 2.2,
 * levels A and AA, as far as a program can tell): an expression for the browser, whose value is a
 * list of faults, one line each.
 */
export const AUDIT = `(() => {
  const faults = [];
  const say = (rule, one) => faults.push(rule + ': ' + one.outerHTML.replace(/\\s+/g, ' ').slice(0, 160));
  const isShown = one => one.checkVisibility({ visibilityProperty: true });
  const all = [...document.querySelectorAll('body *')].filter(isShown);
  const textOf = one => one?.textContent.trim() ?? '';
  const nameOf = one =>
    one.getAttribute('aria-label')?.trim() ||
    [...(one.getAttribute('aria-labelledby')?.split(' ') ?? [])].map(id => textOf(document.getElementById(id))).join(' ') ||
    [...(one.labels ?? [])].map(textOf).join(' ') || textOf(one) || one.title || one.alt || '';
  // 4.1.2: a name for all that can be acted on. 2.1.1: the keyboard gets there.
  for (const one of all) {
    const isControl = one.matches('button, a[href], input, select, textarea, summary, iframe, img, [role=button], [role=img], [role=toolbar], dialog');
    const inside = one.closest('.xterm'); // a terminal of its own, which has its list of rows
    if (isControl && !inside && nameOf(one) === '') say('no name', one);
    const hasAct = one.onclick || getComputedStyle(one).cursor === 'pointer';
    const reach = one.closest('button, a[href], label, summary, select, [tabindex]:not([tabindex="-1"])');
    if (hasAct && !reach && !inside && !one.closest('.cm-gutters, .u-wrap')) say('no keyboard', one);
    if (one.tabIndex > 0) say('an order of its own', one);
    const role = one.getAttribute('role');
    if (role && !/^(button|img|toolbar|status|textbox|list|listitem|document|presentation|alert|log|region|none)$/.test(role)) say('unknown role', one);
    for (const { name, value } of one.attributes)
      if (/^aria-(current|pressed|hidden|expanded|live)$/.test(name) && !/^(true|false|polite|off|assertive)$/.test(value)) say('wrong value of ' + name, one);
    if (one.matches('[aria-hidden=true]') && [...one.querySelectorAll('button, a[href], input')].some(isShown)) say('hidden, but in the order of Tab', one);
    if (one.matches('ol > :not(li), ul > :not(li), dl > :not(dt, dd, div)')) say('not a row of its list', one);
  }
  // 1.3.1: regions have names of their own; headings leave out no level.
  const regions = all.filter(one => one.matches('section[aria-label], aside, nav, main'));
  const names = regions.map(one => one.tagName + ' ' + nameOf(one).slice(0, 40));
  for (const [i, name] of names.entries()) if (names.indexOf(name) !== i) say('a second region of this name', regions[i]);
  let level = 0;
  for (const one of all.filter(one => /^H[1-6]$/.test(one.tagName))) {
    const own = Number(one.tagName[1]);
    if (own > level + 1) say('a level of headings is left out', one);
    level = own;
  }
  if (document.querySelectorAll('main').length > 1) faults.push('two mains');
  if (document.documentElement.lang === '') faults.push('no language');
  const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id);
  for (const id of new Set(ids)) if (ids.filter(one => one === id).length > 1) faults.push('an id twice: ' + id);
  // 1.4.3: contrast of text. Colours are mixed by a canvas, which knows all notations.
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const paint = colors => {
    canvas.clearRect(0, 0, 1, 1);
    for (const color of colors) {
      canvas.fillStyle = color;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = rgb => {
    const [r, g, b] = rgb.map(c => c / 255).map(c => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const backs = one => (one ? [...backs(one.parentElement), getComputedStyle(one).backgroundColor] : [getComputedStyle(document.documentElement).colorScheme.includes('dark') && matchMedia('(prefers-color-scheme: dark)').matches ? '#121212' : '#fff']);
  const seen = new Set();
  for (const one of all) {
    const own = [...one.childNodes].some(node => node.nodeType === 3 && node.data.trim() !== '');
    if (!own || one.closest('.hidden, .xterm-accessibility, option, :disabled')) continue;
    const { color, fontSize, fontWeight, opacity } = getComputedStyle(one);
    const colors = backs(one);
    const back = paint(colors);
    const [a, b] = [light(paint([...colors, color])), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const isLarge = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
    const kind = color + back + isLarge;
    if (ratio * Number(opacity) >= (isLarge ? 3 : 4.5) || seen.has(kind)) continue;
    seen.add(kind);
    say('contrast ' + ratio.toFixed(2) + ' of ' + color + ' on ' + back, one);
  }
  // 2.5.8: targets of at least 24 pixels, or with that much room around them; text is exempt.
  return faults;
})()`;
