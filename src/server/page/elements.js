/* Only this file makes elements. Foreign text is never parsed as HTML. Invisible and direction-changing
   characters are shown as escapes. */

/**
 * @typedef {Node | string | undefined} Child
 * @typedef {Readonly<Record<string, string | boolean | undefined>>} Attributes false, undefined: omitted
 */

/** Control characters except newline and tab, and marks of text direction. */
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
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : visible(value))
  for (const child of children) {
    if (child !== undefined && child !== '') made.append(typeof child === 'string' ? visible(child) : child)
  }
  return made
}

/** @param {string} id of an element in index.html */
export function byId(id) {
  return controlById(id, HTMLElement)
}

/**
 * Checks the class of the element.
 * @template {HTMLElement} Control
 * @param {string} id @param {new () => Control} type
 */
export function controlById(id, type) {
  const found = document.getElementById(id)
  if (found instanceof type) return found
  throw new TypeError(`the page has no ${type.name} "${id}"`)
}

/** Avoids equal updates: screen readers read each one. @param {string} id @param {string} text */
export function setText(id, text) {
  const shown = visible(text)
  const at = byId(id)
  if (at.textContent !== shown) at.textContent = shown
}

/** @param {Attributes} attributes @param {string} text @param {() => void} act */
export function button(attributes, text, act) {
  const made = element('button', { type: 'button', ...attributes }, text)
  made.addEventListener('click', act)
  return made
}

/** An item of a description list. @param {string} name @param {Child} value empty: no item */
export function fact(name, value) {
  if (value === undefined || value === '') return undefined
  return element('div', {}, element('dt', {}, name), element('dd', {}, value))
}

/** A description list. @param {...(Node | undefined)} list */
export function facts(...list) {
  return element('dl', { class: 'facts' }, ...list.filter((one) => one !== undefined))
}

const GOOD = new Set(['Ready', 'True', 'done', 'same'])
const CALM = new Set(['Suspended', 'Absent', 'Progressing', 'Unknown', 'started'])
const WARN = new Set(['Drifted', 'Orphaned', 'NotReady', 'warning', 'differs'])

/** Colour of a status. @param {string} status */
export function toneOf(status) {
  if (GOOD.has(status)) return 'good'
  if (CALM.has(status)) return 'calm'
  return WARN.has(status) ? 'warn' : 'bad'
}

/** `OutcomeUnknown` becomes `Outcome unknown`. @param {string} name */
export function worded(name) {
  return name.replaceAll(/(?<=[a-z])([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)
}

/** @param {string} status */
export function badge(status) {
  return element('span', { class: `badge ${toneOf(status)}` }, worded(status))
}

/** Isolates the direction of foreign text. @param {string} text */
export function foreign(text) {
  return element('bdi', {}, text)
}

/** @param {string} text */
export function code(text) {
  return element('code', {}, foreign(text))
}

/** Own text; backticks mark code. @param {string} text */
export function prose(text) {
  const parts = text.split('`')
  return element(
    'span',
    {},
    ...parts.map((part, index) => (index % 2 === 1 && index < parts.length - 1 ? code(part) : foreign(part))),
  )
}

/** A code that is never broken, such as a reason. @param {string} text */
export function word(text) {
  return element('code', { class: 'word' }, text)
}

/**
 * On a phone, its rows are blocks whose cells show their title.
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

/**
 * Keeps its role when CSS shows it as a block.
 * @param {readonly Child[]} cells @param {Attributes} [attributes]
 */
export function row(cells, attributes = {}) {
  const made = cells.map((cell) => element('td', { role: 'cell' }, cell))
  return element('tr', { ...attributes, role: 'row' }, ...made)
}

/** Shortens a commit to 10 digits and keeps a suffix. @param {string} revision */
export function shortRevision(revision) {
  return revision.replace(/^([0-9a-f]{10})[0-9a-f]{30,54}(?![0-9a-f])/, '$1')
}

/** @param {string | undefined} file @param {number | undefined} line */
export function place(file, line) {
  if (file === undefined) return ''
  return line === undefined ? file : `${file}:${line}`
}

/** @param {2 | 3} level @param {string} text */
export function heading(level, text) {
  return element(`h${level}`, {}, text)
}

/** "1 error", "2 errors". @param {number} count @param {string} noun */
export function plural(count, noun) {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
