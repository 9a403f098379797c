/**
 * Remembers which element has the focus, so that it can be found again after what it stood in was made anew: by its id, or as the one
 * with the same label in the nearest element with an id, such as the button that copies one command of one card.
 * @param {Element | null} focused
 * @returns {() => void} gives it the focus back, if it lost it
 */
export function pathTo(focused) {
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
