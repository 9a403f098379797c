/**
 * @import { Facet, PageReply } from '../api/page.ts'
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { Sort } from '../api/selection.ts'
 */

import { FILTERS, go, isFiltered, readAddress, unfiltered } from './address-bar.js'
import { byId, controlById, element, worded } from './elements.js'

/** Pause in typing before a request. Too short to notice. */
const TYPING_MS = 10

/** @type {readonly (readonly [Sort, string])[]} */
const SORTS = [
  ['key', 'name'],
  ['status', 'status, worst first'],
  ['since', 'last change'],
  ['kind', 'kind'],
  ['reason', 'reason'],
  ['service', 'service'],
  ['state', 'state'],
  ['file', 'file'],
]

export function setUpFilter() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  byId('filter').addEventListener('submit', (event) => event.preventDefault())
  byId('filter').addEventListener('input', (event) => {
    const typing = event.target === byId('q')
    clearTimeout(timer)
    timer = setTimeout(apply, typing ? TYPING_MS : 0, typing)
  })
  // On a small screen, filters are hidden until used.
  byId('more-filters').addEventListener('click', () => {
    openFilters()
    selectOf('kind').focus()
  })
  byId('clear').addEventListener('click', () => {
    go(unfiltered())
    byId('q').focus()
  })
  byId('sort').replaceChildren(...SORTS.map(([value, text]) => element('option', { value }, text)))
}

function clearText() {
  const field = controlById('q', HTMLInputElement)
  field.value = ''
  field.dispatchEvent(new Event('input', { bubbles: true }))
}

/** @param {boolean} typing */
function apply(typing) {
  const wanted = readAddress()
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, fieldOf(name).value.trim()]))
  const sort = selectOf('sort').value
  const order = sort === (wanted.sort ?? 'key') ? wanted.order : undefined
  go({ ...wanted, ...chosen, sort: sort === 'key' ? '' : sort, order, page: '', resource: '' }, { typing })
}

function openFilters() {
  byId('filter').classList.add('open')
  byId('more-filters').setAttribute('aria-expanded', 'true')
}

/** @param {typeof FILTERS[number]} name */
function fieldOf(name) {
  return name === 'q' ? controlById(name, HTMLInputElement) : selectOf(name)
}

/** @param {string} id */
function selectOf(id) {
  return controlById(id, HTMLSelectElement)
}

/** Copies the address into the filter. */
export function showFilter() {
  const wanted = readAddress()
  for (const name of FILTERS) {
    const field = fieldOf(name)
    const value = wanted[name] ?? ''
    if (field instanceof HTMLSelectElement && ![...field.options].some((option) => option.value === value)) {
      field.append(element('option', { value }, value))
    }
    if (field.value !== value && (name !== 'q' || field.value.trim() !== value)) field.value = value
  }
  selectOf('sort').value = SORTS.find(([value]) => value === wanted.sort)?.[0] ?? 'key'
  byId('clear').hidden = !FILTERS.some((name) => wanted[name] !== undefined)
  if (FILTERS.some((name) => name !== 'q' && wanted[name] !== undefined)) openFilters()
}

/** @param {NonNullable<PageReply['whole']>['facets']} reply @param {OverviewReply['counts']} counts */
export function showFacets({ kinds, services, labels, files, reasons }, counts) {
  fillSelect(
    'status',
    Object.entries(counts).map(([status, count]) => [status, `${worded(status)} (${count})`]),
  )
  fillSelect('kind', kinds.map(counted))
  fillSelect('reason', reasons.map(counted))
  fillSelect('service', services.map(counted))
  fillSelect('label', labels.map(counted))
  fillSelect('file', files.map(counted))
  hideWhenEmpty('service', services)
  hideWhenEmpty('label', labels)
  hideWhenEmpty('file', files)
  showFilter()
}

/** @param {'service' | 'label' | 'file'} name @param {readonly Facet[]} values */
function hideWhenEmpty(name, values) {
  const label = selectOf(name).labels[0]
  if (label !== undefined) label.hidden = values.length === 0 && readAddress()[name] === undefined
}

/** @param {Facet} facet @returns {[string, string]} */
function counted({ value, count }) {
  return [value, `${value} (${count})`]
}

/** @param {string} id @param {readonly (readonly [value: string, text: string])[]} options */
function fillSelect(id, options) {
  const select = selectOf(id)
  const text = JSON.stringify(options)
  if (select.dataset.options === text) return
  select.dataset.options = text
  const { value } = select
  select.replaceChildren(
    element('option', { value: '' }, 'all'),
    ...options.map(([name, shown]) => element('option', { value: name }, shown)),
  )
  select.value = value
}

/**
 * `/` focuses the filter. Escape in the filter clears its text, then all filters, then leaves it. Elsewhere,
 * Escape leaves the resource or clears all filters.
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
