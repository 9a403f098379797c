/* The address contains the view, so links and "back" work: `?resource=Pipe/orders`, `?status=Drifted&page=2`. */

export const FILTERS = /** @type {const} */ (['q', 'kind', 'status', 'reason', 'service', 'label', 'file'])

const KNOWN = /** @type {const} */ ([...FILTERS, 'sort', 'order', 'page', 'story', 'resource'])

/**
 * @typedef {{ readonly [Name in typeof KNOWN[number]]?: string | undefined }} Address
 */

/** @returns {Address} */
export function readAddress() {
  const query = new URLSearchParams(location.search)
  return Object.fromEntries(
    KNOWN.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value !== ''),
  )
}

export function isFiltered() {
  const wanted = readAddress()
  return FILTERS.some((name) => wanted[name] !== undefined)
}

/** @returns {Address} */
export function unfiltered() {
  const { sort, order, story } = readAddress()
  return { sort, order, story }
}

/** @param {Address} wanted */
export function addressOf(wanted) {
  const query = new URLSearchParams()
  for (const name of KNOWN) {
    const value = wanted[name]
    if (value !== undefined && value !== '') query.set(name, value)
  }
  const text = query.toString().replaceAll('%2F', '/')
  return text === '' ? location.pathname : `?${text}`
}

/**
 * All letters typed in a row are one step for "back".
 * @param {Address} wanted @param {{ typing?: boolean, isReplacing?: boolean }} [how]
 */
export function go(wanted, { typing = false, isReplacing = false } = {}) {
  const address = addressOf(wanted)
  if (address === addressOf(readAddress())) return
  if (isReplacing || (typing && history.state?.typing === true)) history.replaceState({ typing }, '', address)
  else history.pushState({ typing }, '', address)
  dispatchEvent(new Event('addresschange'))
}

/** Opens links without a reload. A link to a resource (`data-resource`) keeps the filter. */
export function followLinks() {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a[data-inside]') : null
    if (!(link instanceof HTMLElement)) return
    event.preventDefault()
    const { resource } = link.dataset
    if (resource === undefined) {
      history.pushState({}, '', link.getAttribute('href'))
      dispatchEvent(new Event('addresschange'))
    } else go({ ...readAddress(), resource })
  })
  addEventListener('popstate', () => dispatchEvent(new Event('addresschange')))
}
