import { h } from './markup.js'

/** Made once, because making a formatter is slow. */
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

/** Server's clock minus the browser's, in ms. */
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

/** "3 min ago", with the exact time as title. @param {number} at ms since the epoch @param {string} [id] */
export function ago(at, id) {
  return time(at, distance(at), id)
}

/** "in 3 min", or "due" if the time has come. @param {number} at ms since the epoch */
export function until(at) {
  return time(at, at <= serverTime() ? 'due' : distance(at))
}

/** "since 14:05, for 3 min". @param {number} at ms since the epoch */
export function sinceWhen(at) {
  const age = serverTime() - at
  const format = age < 20 * 3_600_000 ? CLOCK : EXACT
  const lasting = time(at, `for ${duration(Math.max(1_000, age))}`)
  return h`<span>since ${format.format(at)}, ${lasting}</span>`
}

/** @param {number} at @param {string} text @param {string} [id] */
function time(at, text, id) {
  return h`<time id=${id} datetime=${new Date(at).toISOString()} title=${exactly(at)} data-at=${at}>${text}</time>`
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
