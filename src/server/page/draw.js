/** Data last drawn, as JSON. Equal data is not drawn again. @type {Map<string, string>} */
const drawn = new Map()

/** First drawings, which are shown together. Undefined: done. @type {Map<string, () => void> | undefined} */
let waiting = new Map()

/**
 * Draws data that differs from the last drawing. A drawing error goes to the console: it is no lost
 * connection.
 * @param {string} name @param {unknown} shown @param {() => void} show
 */
export function draw(name, shown, show) {
  const text = JSON.stringify(shown)
  if (drawn.get(name) === text) return
  drawn.set(name, text)
  if (waiting === undefined) drawNow(name, show)
  else waiting.set(name, show)
}

/** The next data is drawn even if equal. @param {string} name */
export function drawAnew(name) {
  drawn.delete(name)
}

/** The overview comes first: it has the repository's address. */
export function drawFirst() {
  if (waiting === undefined) return
  const { overview, ...others } = Object.fromEntries(waiting)
  waiting = undefined
  if (overview !== undefined) drawNow('overview', overview)
  for (const [name, show] of Object.entries(others)) drawNow(name, show)
  document.body.classList.remove('loading')
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

/** Keeps the keyboard focus. @param {string} name @param {() => void} show */
function drawNow(name, show) {
  const focused = pathTo(document.activeElement)
  try {
    show()
  } catch (error) {
    drawn.delete(name)
    reportError(error)
  }
  focused()
}

/**
 * Remembers the focused element, to find it again after a redraw: by its id, or by its label within the
 * nearest id.
 * @param {Element | null} focused @returns {() => void} restores a lost focus
 */
function pathTo(focused) {
  if (!(focused instanceof HTMLElement) || focused === document.body) return () => undefined
  const { id } = focused
  const holder = id === '' ? (focused.closest('[id]')?.id ?? '') : ''
  const alike = { tag: focused.tagName, label: labelOf(focused) }
  return () => {
    if (focused.isConnected) return
    const within = document.getElementById(id === '' ? holder : id)
    const again =
      id !== '' || within === null
        ? within
        : [...within.querySelectorAll(alike.tag)].find((one) => labelOf(one) === alike.label)
    if (again instanceof HTMLElement) again.focus({ preventScroll: true })
  }
}

/** @param {Element} one */
function labelOf(one) {
  return one.getAttribute('aria-label') ?? one.textContent
}
