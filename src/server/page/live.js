/** How long changes gather before they are fetched. */
const GATHER_MS = 300

/** When nothing was heard, look all the same. */
const POLL_MS = 60_000

/**
 * Calls `refresh` at once, whenever the server says that something changed, and again after a lost connection.
 * @param {() => Promise<void>} refresh
 * @param {(state: 'live' | 'lost') => void} show
 */
export function keepFresh(refresh, show) {
  let timer
  let running = false
  let again = false

  async function run() {
    if (running) {
      again = true
      return
    }
    running = true
    try {
      await refresh()
      if (source.readyState === EventSource.OPEN) show('live')
    } catch {
      show('lost')
    }
    running = false
    if (again) {
      again = false
      soon()
    }
  }

  function soon() {
    clearTimeout(timer)
    timer = setTimeout(run, GATHER_MS)
  }

  let source = listen()

  function listen() {
    const events = new EventSource('api/v1/events')
    for (const type of ['resources', 'source', 'history']) events.addEventListener(type, soon)
    events.addEventListener('open', () => void run())
    events.addEventListener('error', () => {
      show('lost')
      // The browser comes back by itself, but not after an answer that is no stream, such as a proxy's 502.
      if (events.readyState === EventSource.CLOSED) {
        setTimeout(() => {
          source = listen()
        }, 5_000)
      }
    })
    return events
  }

  setInterval(soon, POLL_MS)
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') soon()
  })
  void run()
  return soon
}
