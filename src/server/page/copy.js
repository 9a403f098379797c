import { button, byId, code, element } from './elements.js'

const SHOWN_MS = 2_000

/** Text with a copy button. @param {string} text */
export function copyable(text) {
  const copy = button(
    { class: 'copy', 'aria-label': `Copy ${text}` },
    'Copy',
    () => void copyText(text, copy),
  )
  return element('span', { class: 'copyable' }, code(text), copy)
}

/** @param {string} text @param {HTMLButtonElement} pressed */
async function copyText(text, pressed) {
  const done = await toClipboard(text)
  const said = done ? 'Copied' : 'Press Ctrl+C'
  if (!done && pressed.previousElementSibling !== null) select(pressed.previousElementSibling)
  pressed.textContent = said
  announce(done ? `Copied: ${text}` : 'It is selected. Press Ctrl+C to copy it.')
  setTimeout(() => {
    pressed.textContent = 'Copy'
  }, SHOWN_MS)
}

/** @param {string} text */
async function toClipboard(text) {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // Browsers have no clipboard over plain HTTP.
    return false
  }
}

/** @param {Node} node */
function select(node) {
  const range = document.createRange()
  range.selectNodeContents(node)
  getSelection()?.removeAllRanges()
  getSelection()?.addRange(range)
}

/** For screen readers. @param {string} text */
export function announce(text) {
  byId('announce').textContent = text
}
