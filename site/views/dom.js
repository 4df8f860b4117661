// Making elements: el('button', { class: 'main', onclick: f, style: '--p: 1' }, 'Play', ...).

export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export const find = (selector) => document.querySelector(selector);
export const percent = (p) => (p < 0.001 ? '<0.1%' : `${(100 * p).toFixed(p < 0.1 || (p > 0.995 && p < 1) ? 1 : 0)}%`);

// White space that one can see: a space between words needs no sign, a line's end does.
export function visible(text) {
  if (text === '') return 'end of the stage';
  return text.replace(/\n/g, '⏎').replace(/^ | $/g, '␣');
}
