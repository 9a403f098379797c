/**
 * @import { Change } from '../recent-events.ts'
 * @typedef {{ how: 'live' | 'polled' | 'lost', asOf: number | undefined }} Connection `polled`: the server answers, but nothing
 *   of the stream of events arrives, so that it is asked again and again. `asOf`: when what is shown was last known to be right, in ms since
 *   the epoch by this machine's clock; `undefined`: never yet
 * @typedef {Change['type'] | 'alive' | 'one'} Part `one`: the resource that is open
 */

/** Changes within this time are fetched together. */
const GATHER_MS = 100

/** Between two fetches, so that an open page costs the daemon little while much goes on. */
const REST_MS = 1_500

/** The first fetch waits so long for the stream of events, so that nothing falls in between. */
const FIRST_WAIT_MS = 50

/** The server says something at least every 15 s; after so long a silence the connection is held to be gone. */
const SILENCE_MS = 40_000

/** The stream says something as soon as it is asked for; after so long, something between holds it back. */
const OPENING_MS = 10_000

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000

/** What an event makes old. @type {readonly Part[]} */
const PARTS = ['resources', 'source', 'history', 'alive']

/**
 * Says what to fetch: everything at first and after a lost connection, otherwise what the server says is new. A page
 * that nobody sees fetches nothing.
 * @param {(parts: ReadonlySet<Part>) => Promise<void>} refresh throws when the server cannot be reached
 * @param {(connection: Connection) => void} show
 * @returns {(part: Part) => void} asks for a part
 */
export function keepFresh(refresh, show) {
  const wanted = new Set(PARTS)
  /** @type {EventSource | undefined} */
  let source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer = setTimeout(() => void run(), FIRST_WAIT_MS)
  let running = false
  let restUntil = 0
  let heardAt = 0
  let askedAt = 0
  /** Whether the stream has said something: its head alone also comes from a proxy that holds back the rest. */
  let isHeard = false
  /** @type {number | undefined} */
  let asOf
  let retryMs = FIRST_RETRY_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retryTimer

  /** @param {Part} part */
  function want(part) {
    wanted.add(part)
    if (!running && timer === undefined) runIn(Math.max(GATHER_MS, restUntil - Date.now()))
  }

  /** @param {number} milliseconds */
  function runIn(milliseconds) {
    clearTimeout(timer)
    timer = setTimeout(() => void run(), milliseconds)
  }

  async function run() {
    timer = undefined
    if (running || wanted.size === 0 || (document.visibilityState === 'hidden' && asOf !== undefined)) return
    const parts = new Set(wanted)
    const startedAt = Date.now()
    wanted.clear()
    running = true
    let answered = true
    try {
      await refresh(parts)
      asOf = startedAt
      if (source?.readyState === EventSource.OPEN && isHeard) {
        retryMs = FIRST_RETRY_MS
        show({ how: 'live', asOf })
      } else if (source?.readyState === EventSource.CLOSED) show({ how: 'polled', asOf })
    } catch {
      answered = false
      for (const part of parts) wanted.add(part)
      lose()
    }
    running = false
    restUntil = Date.now() + REST_MS
    if (wanted.size > 0 && answered && source?.readyState !== EventSource.CONNECTING) runIn(REST_MS)
  }

  /** Closes what is left of the connection, says so, and makes a new one after a while. */
  function lose() {
    show({ how: 'lost', asOf })
    listenLater()
  }

  function listenLater() {
    source?.close()
    clearTimeout(retryTimer)
    retryTimer = setTimeout(() => {
      retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS)
      listen()
    }, retryMs)
  }

  function heard() {
    heardAt = Date.now()
    isHeard = true
    if (wanted.size === 0 && !running) asOf = heardAt
  }

  function listen() {
    clearTimeout(retryTimer)
    source?.close()
    const opened = new EventSource('api/v1/events')
    source = opened
    askedAt = Date.now()
    isHeard = false
    for (const part of PARTS) {
      opened.addEventListener(part, () => {
        heard()
        want(part)
      })
    }
    opened.addEventListener('open', () => {
      for (const part of PARTS) wanted.add(part)
      if (!running) runIn(0)
    })
    opened.addEventListener('error', () => {
      if (source === opened) goWithout()
    })
  }

  /** Only the stream may be refused, because too many listen, or held back by a proxy: whether the server answers, a request tells. */
  function goWithout() {
    if (document.visibilityState === 'hidden') return lose()
    listenLater()
    for (const part of PARTS) wanted.add(part)
    if (!running) runIn(0)
  }

  setInterval(() => {
    const now = Date.now()
    if (source === undefined || source.readyState === EventSource.CLOSED) return
    if (isHeard && now - heardAt > SILENCE_MS) lose()
    else if (!isHeard && now - askedAt > OPENING_MS) goWithout()
  }, 5_000)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') wakeUp()
  })
  addEventListener('online', wakeUp)

  function wakeUp() {
    if (source?.readyState === EventSource.OPEN) runIn(0)
    else listen()
  }

  listen()
  return want
}
