/*
 * Elements are made here and nowhere else, and text gets in as text only: what manifests and the platform say
 * is never read as HTML.
 */

/**
 * @param {string} tag
 * @param {Record<string, string | boolean | undefined>} attributes false and undefined leave one out
 * @param {...(Node | string | undefined)} children
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) made.setAttribute(name, value === true ? '' : value)
  }
  made.append(...children.filter((child) => child !== undefined && child !== ''))
  return made
}

/** The element of the page with this id. */
export function byId(id) {
  return document.getElementById(id)
}

/** A name and a value of a description list; nothing without a value. */
export function fact(name, value) {
  if (value === undefined || value === '') return undefined
  return element('div', {}, element('dt', {}, name), element('dd', {}, value))
}

const GOOD = new Set(['Ready', 'True', 'done'])
const CALM = new Set(['Suspended', 'Progressing', 'Unknown', 'started'])
const WARN = new Set(['Drifted', 'Orphaned', 'NotReady', 'warning'])

/** How a status is coloured; its word is always there too. */
export function toneOf(status) {
  if (GOOD.has(status)) return 'good'
  if (CALM.has(status)) return 'calm'
  return WARN.has(status) ? 'warn' : 'bad'
}

export function badge(status) {
  return element('span', { class: `badge ${toneOf(status)}` }, status)
}

/** "3 min ago", with the exact time in the tip. @param {number} at ms since the epoch @param {number} now likewise */
export function ago(at, now) {
  const exact = new Date(at)
  return element('time', { datetime: exact.toISOString(), title: exact.toLocaleString() }, distance(now - at))
}

function distance(milliseconds) {
  const seconds = Math.round(Math.abs(milliseconds) / 1_000)
  const [amount, unit] =
    seconds < 60
      ? [seconds, 's']
      : seconds < 3_600
        ? [Math.round(seconds / 60), 'min']
        : seconds < 172_800
          ? [Math.round(seconds / 3_600), 'h']
          : [Math.round(seconds / 86_400), 'days']
  if (seconds < 5) return 'just now'
  return milliseconds < 0 ? `in ${amount} ${unit}` : `${amount} ${unit} ago`
}

/** Git names commits by 40 digits; people read 10. */
export function shortRevision(revision) {
  return /^[0-9a-f]{40,64}$/.test(revision) ? revision.slice(0, 10) : revision
}

export function place(file, line) {
  if (file === undefined || file === null) return ''
  return line === undefined || line === null ? file : `${file}:${line}`
}
