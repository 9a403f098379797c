/**
 * @typedef {{ how: 'live' | 'polled' | 'lost', asOf: number | undefined }} Connection
 *   `polled`: requests work, but no event stream. `asOf`: last time at which the page was current,
 *   in ms since the epoch by the browser's clock; undefined: never
 */

/** Events within this time cause one fetch. */
const GATHER_MS = 100

const REST_MS = 1_500

/** The first fetch waits this long for the event stream, because a change before the stream opens causes no event. */
const FIRST_WAIT_MS = 50

/** After this time without an event, the connection counts as lost. The server sends an event every 15 s. */
const SILENCE_MS = 40_000

/** The server sends the first event immediately. If none comes in this time, a proxy blocks the stream. */
const OPENING_MS = 10_000

const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 15_000

const EVENTS = ['resources', 'source', 'history', 'alive']

/**
 * Refreshes at the start, after each event and after a lost connection. A hidden page does not refresh.
 * @param {() => Promise<void>} refresh throws if the server is unreachable
 * @param {(connection: Connection) => void} show @returns {() => void} requests a refresh
 */
export function keepFresh(refresh, show) {
  let isWanted = true
  /** @type {EventSource | undefined} */
  let source
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer = setTimeout(() => void run(), FIRST_WAIT_MS)
  let running = false
  let restUntil = 0
  let heardAt = 0
  let askedAt = 0
  /** Whether an event came. An open stream is no proof, because a proxy can block events. */
  let isHeard = false
  /** @type {number | undefined} */
  let asOf
  let retryMs = FIRST_RETRY_MS
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retryTimer

  function want() {
    isWanted = true
    if (!running && timer === undefined) runIn(Math.max(GATHER_MS, restUntil - Date.now()))
  }

  /** @param {number} milliseconds */
  function runIn(milliseconds) {
    clearTimeout(timer)
    timer = setTimeout(() => void run(), milliseconds)
  }

  async function run() {
    timer = undefined
    if (running || !isWanted || (document.visibilityState === 'hidden' && asOf !== undefined)) return
    const startedAt = Date.now()
    isWanted = false
    running = true
    let answered = true
    try {
      await refresh()
      asOf = startedAt
      if (source?.readyState === EventSource.OPEN && isHeard) {
        retryMs = FIRST_RETRY_MS
        show({ how: 'live', asOf })
      } else if (source?.readyState === EventSource.CLOSED) show({ how: 'polled', asOf })
    } catch {
      answered = false
      isWanted = true
      lose()
    }
    running = false
    restUntil = Date.now() + REST_MS
    if (isWanted && answered && source?.readyState !== EventSource.CONNECTING) runIn(REST_MS)
  }

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

  function listen() {
    clearTimeout(retryTimer)
    source?.close()
    const opened = new EventSource('api/v1/events')
    source = opened
    askedAt = Date.now()
    isHeard = false
    for (const name of EVENTS) {
      opened.addEventListener(name, () => {
        heardAt = Date.now()
        isHeard = true
        if (!isWanted && !running) asOf = heardAt
        want()
      })
    }
    opened.addEventListener('open', () => {
      isWanted = true
      if (!running) runIn(0)
    })
    opened.addEventListener('error', () => {
      if (source === opened) goWithout()
    })
  }

  /**
   * If the server has too many clients, or a proxy blocks streams, there is no stream. Then a request shows whether the
   * server answers.
   */
  function goWithout() {
    if (document.visibilityState === 'hidden') return lose()
    listenLater()
    isWanted = true
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
