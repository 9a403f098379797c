import { go, isFiltered, readAddress, unfiltered } from './address-bar.js'
import { controlById } from './elements.js'
import { clearText } from './list-filter.js'

/**
 * `/` goes to the filter, also from the page of one resource. Escape there clears its text, then every filter, then leaves it;
 * elsewhere it leaves the page of one resource, or clears every filter.
 */
export function setUpKeys() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
    if (document.querySelector('dialog[open]') !== null) return
    const field = controlById('q', HTMLInputElement)
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea')
    if (event.key === '/' && !isTyping) {
      event.preventDefault()
      if (readAddress().resource !== undefined) go({ ...readAddress(), resource: '' })
      field.focus()
      field.select()
    } else if (event.key === 'Escape' && event.target === field) {
      event.preventDefault()
      if (field.value !== '') clearText()
      else if (isFiltered()) go(unfiltered())
      else field.blur()
    } else if (event.key === 'Escape' && !isTyping) {
      if (readAddress().resource !== undefined) go({ ...readAddress(), resource: '' })
      else if (isFiltered()) go(unfiltered())
    }
  })
}
