import { pathTo } from './focus.js'

/** What was fetched last, as text: what did not change is not drawn again. @type {Map<string, string>} */
const drawn = new Map()

/** At first everything is drawn at once, so that nothing moves under the eyes; `undefined`: that is done. @type {Map<string, () => void> | undefined} */
let waiting = new Map()

/**
 * Shows what was fetched, unless it is shown already. A fault of ours in one part is told in the console, and is no lost connection.
 * @param {string} name @param {unknown} shown @param {() => void} show
 */
export function draw(name, shown, show) {
  const text = JSON.stringify(shown)
  if (drawn.get(name) === text) return
  drawn.set(name, text)
  if (waiting === undefined) drawNow(name, show)
  else waiting.set(name, show)
}

/** What is fetched next is drawn, even if it is the same. @param {string} name */
export function drawAnew(name) {
  drawn.delete(name)
}

/** All that was fetched at first. The whole comes first: it knows where the repository is. */
export function drawFirst() {
  if (waiting === undefined) return
  const { overview, ...others } = Object.fromEntries(waiting)
  waiting = undefined
  if (overview !== undefined) drawNow('overview', overview)
  for (const [name, show] of Object.entries(others)) drawNow(name, show)
  document.body.classList.remove('loading')
  if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
}

/** Drawing again must not throw a person who uses the keyboard back to the top. @param {string} name @param {() => void} show */
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
