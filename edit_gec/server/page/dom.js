// Small helpers for elements.

export const $ = (id) => document.getElementById(id);

/** An element with these properties (`aria-...` and `data-...` are attributes) and children. */
export function node(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties))
    if (key.includes("-")) made.setAttribute(key, value);
    else made[key] = value;
  made.append(...children);
  return made;
}

/** A button with a label and what it does. */
export const button = (label, onclick, properties = {}) => node("button", { type: "button", onclick, ...properties }, label);
