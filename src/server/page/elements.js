/*
 * Elements are made here and nowhere else, and text gets in as text only: what manifests and the platform say
 * is never read as HTML. Characters that turn text around or cannot be seen are shown as what they are.
 */

/**
 * @typedef {Node | string | undefined} Child
 * @typedef {Readonly<Record<string, string | boolean | undefined>>} Attributes false and undefined leave one out
 */

/** Controls but line breaks and tabs, and marks that change the direction of text. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u200b\u2028\u2029\ufeff]/gu

/** @param {string} text */
export function visible(text) {
  return text.replaceAll(UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} attributes @param {...Child} children
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag)
  setAttributes(made, attributes)
  for (const child of children) {
    if (child !== undefined && child !== '') made.append(typeof child === 'string' ? visible(child) : child)
  }
  return made
}

/**
 * The same for pictures.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag @param {Attributes} attributes @param {...Node} children
 */
export function shape(tag, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  setAttributes(made, attributes)
  made.append(...children)
  return made
}

/** @param {Element} made @param {Attributes} attributes */
function setAttributes(made, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : visible(value))
  }
}

/** The element of index.html with this id. @param {string} id */
export function byId(id) {
  return controlById(id, HTMLElement)
}

/**
 * The same for one of a certain class.
 * @template {HTMLElement} Control
 * @param {string} id @param {new () => Control} type
 */
export function controlById(id, type) {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new TypeError(`the page has no ${type.name} "${id}"`)
}

/** Only when it differs: a live region is read out each time it is touched. @param {string} id @param {string} text */
export function setText(id, text) {
  const shown = visible(text)
  const at = byId(id)
  if (at.textContent !== shown) at.textContent = shown
}

/** A button that does something. @param {Attributes} attributes @param {string} text @param {() => void} act */
export function button(attributes, text, act) {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', act)
  return made
}

/** A name and a value of a description list; nothing without a value. @param {string} name @param {Child} value */
export function fact(name, value) {
  if (value === undefined || value === '') return undefined
  return element('div', {}, element('dt', {}, name), element('dd', {}, value))
}

/** A list of names and values; those without a value are left out. @param {...(Node | undefined)} list */
export function facts(...list) {
  return element('dl', { class: 'facts' }, ...list.filter((one) => one !== undefined))
}

const GOOD = new Set(['Ready', 'True', 'done', 'same'])
const CALM = new Set(['Suspended', 'Absent', 'Progressing', 'Unknown', 'started'])
const WARN = new Set(['Drifted', 'Orphaned', 'NotReady', 'warning', 'differs'])

/** How a status is coloured; its word is always there too. @param {string} status */
export function toneOf(status) {
  if (GOOD.has(status)) return 'good'
  if (CALM.has(status)) return 'calm'
  return WARN.has(status) ? 'warn' : 'bad'
}

/** Codes are one word: `OutcomeUnknown`. People read `Outcome unknown`. @param {string} name */
export function worded(name) {
  return name.replaceAll(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** @param {string} status */
export function badge(status) {
  return element('span', { class: `badge ${toneOf(status)}` }, worded(status))
}

/** Text from a manifest or the platform: its direction is its own affair. @param {string} text */
export function foreign(text) {
  return element('bdi', {}, text)
}

/** @param {string} text */
export function code(text) {
  return element('code', {}, foreign(text))
}

/** A sentence of ours, in which what stands between backticks is code. @param {string} text */
export function prose(text) {
  const parts = text.split('`')
  return element(
    'span',
    {},
    ...parts.map((part, index) => (index % 2 === 1 && index < parts.length - 1 ? code(part) : foreign(part))),
  )
}

/** A word of ours, such as a reason: it is never broken. @param {string} text */
export function word(text) {
  return element('code', { class: 'word' }, text)
}

/**
 * A table with a head. On a phone its rows are blocks, in which each cell says its title.
 * @param {string} caption @param {readonly string[]} titles @param {readonly HTMLTableRowElement[]} rows
 * @param {Attributes} [attributes]
 */
export function table(caption, titles, rows, attributes = {}) {
  for (const one of rows) {
    for (const [index, cell] of [...one.cells].entries()) cell.dataset.title = titles[index] ?? ''
  }
  return element(
    'div',
    { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption },
    element(
      'table',
      { ...attributes, role: 'table' },
      element('caption', { class: 'unseen' }, caption),
      element(
        'thead',
        { role: 'rowgroup' },
        element(
          'tr',
          { role: 'row' },
          ...titles.map((title) => element('th', { scope: 'col', role: 'columnheader' }, title)),
        ),
      ),
      element('tbody', { role: 'rowgroup' }, ...rows),
    ),
  )
}

/** It keeps its role where it is shown as a block. @param {readonly Child[]} cells @param {Attributes} [attributes] */
export function row(cells, attributes = {}) {
  const made = cells.map((cell) => element('td', { role: 'cell' }, cell))
  return element('tr', { ...attributes, role: 'row' }, ...made)
}

/** Git names commits by 40 digits or more; people read 10. What stands behind a commit stays. @param {string} revision */
export function shortRevision(revision) {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}

/** @param {string | undefined} file @param {number | undefined} line */
export function place(file, line) {
  if (file === undefined) return ''
  return line === undefined ? file : `${file}:${line}`
}

/** A heading of a section below the page's own. @param {2 | 3} level @param {string} text */
export function heading(level, text) {
  return element(`h${level}`, {}, text)
}

/** "1 error", "2 errors". @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
