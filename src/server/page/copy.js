import { code, h } from './markup.js'
import { change, view } from './view.js'

const SHOWN_MS = 2_000

/** @param {string} text */
export function copyable(text) {
  const label = view.copied !== text ? 'Copy' : view.isInClipboard ? 'Copied' : 'Press Ctrl+C'
  const press = (/** @type {Event} */ event) => void copy(text, event.currentTarget)
  return h`<span class="copyable">${code(text)}
    <button class="plain copy" aria-label=${`Copy ${text}`} onClick=${press}>${label}</button></span>`
}

/** @param {string} text @param {EventTarget | null} pressed */
async function copy(text, pressed) {
  // Browsers have no clipboard over plain HTTP.
  let isInClipboard = true
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    isInClipboard = false
  }
  const shown = pressed instanceof Element && pressed.previousElementSibling
  if (!isInClipboard && shown) getSelection()?.selectAllChildren(shown)
  const announced = isInClipboard ? `Copied: ${text}` : 'Not copied. The text is selected: press Ctrl+C.'
  change({ copied: text, isInClipboard, announced })
  setTimeout(() => change({ copied: '' }), SHOWN_MS)
}
