import { byId, element } from './elements.js'

/** Creating one takes longer than drawing a row. */
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** Server's clock minus the browser's, in ms. Shown ages use the server's. */
let ahead = 0

/** @param {number} now the server's time, ms since the epoch */
export function setServerTime(now) {
  ahead = now - Date.now()
}

export function serverTime() {
  return toServerTime(Date.now())
}

/** @param {number} at by the browser's clock */
export function toServerTime(at) {
  return at + ahead
}

/** "3 min ago", updated by {@link tick}, with the exact time as title. @param {number} at ms since the epoch */
export function ago(at) {
  const made = element('time', { datetime: new Date(at).toISOString(), title: exactly(at) }, distance(at))
  made.dataset.at = String(at)
  return made
}

/** @param {string} id for {@link setTime} @param {HTMLElement} made */
export function timeNamed(id, made) {
  made.id = id
  return made
}

/** @param {string} id @param {number} at ms since the epoch */
export function setTime(id, at) {
  const shown = byId(id)
  shown.setAttribute('datetime', new Date(at).toISOString())
  shown.title = exactly(at)
  shown.dataset.at = String(at)
  shown.textContent = textOf(shown)
}

/** "in 3 min", then "due". @param {number} at ms since the epoch */
export function until(at) {
  const made = ago(at)
  made.dataset.until = ''
  made.textContent = textOf(made)
  return made
}

/** "for 3 min". @param {number} at ms since the epoch */
export function lasting(at) {
  const made = ago(at)
  made.dataset.lasting = ''
  made.textContent = textOf(made)
  return made
}

/** "since 14:05 (3 min)". @param {number} at ms since the epoch */
export function sinceWhen(at) {
  const isToday = serverTime() - at < 20 * 3_600_000
  return element('span', {}, `since ${(isToday ? CLOCK : EXACT).format(at)}, `, lasting(at))
}

/** @param {HTMLElement} made */
function textOf(made) {
  const at = Number(made.dataset.at)
  if (made.dataset.until !== undefined && at <= serverTime()) return 'due'
  if (made.dataset.lasting === undefined) return distance(at)
  return `for ${duration(Math.max(1_000, serverTime() - at))}`
}

export function tick() {
  for (const made of document.querySelectorAll('time')) {
    if (made.dataset.at === undefined) continue
    const text = textOf(made)
    if (made.textContent !== text) made.textContent = text
  }
}

/** @param {number} at ms since the epoch */
export function exactly(at) {
  return EXACT.format(at)
}

/** @param {number} at */
function distance(at) {
  const milliseconds = serverTime() - at
  const text = duration(Math.abs(milliseconds))
  if (Math.abs(milliseconds) < 5_000) return 'just now'
  return milliseconds < 0 ? `in ${text}` : `${text} ago`
}

/** "40 s", "3 min", "5 h", "4 days". @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.round(milliseconds / 1_000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3_600) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
