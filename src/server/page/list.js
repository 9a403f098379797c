/**
 * @import { Facet, FacetsReply } from '../api/facets.ts'
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { ResourcesReply, ResourceSummary } from '../api/resources.ts'
 * @import { Sort } from '../api/selection.ts'
 * @import { Address } from './address.js'
 */

import { addressOf, FILTERS, go, readAddress } from './address.js'
import {
  badge,
  button,
  byId,
  code,
  controlById,
  element,
  foreign,
  place,
  row,
  setText,
  word,
  worded,
} from './elements.js'
import { ago } from './time.js'
import { resourceLink } from './trouble.js'

export const PAGE_SIZE = 50

/** A pause in typing after which the list is asked for: one request for a fast word, none that is felt. */
const TYPING_MS = 10

/** Title, and what `sort` calls it. @type {readonly (readonly [string, Sort])[]} */
const COLUMNS = [
  ['Status', 'status'],
  ['Resource', 'key'],
  ['Reason', 'reason'],
  ['Service', 'service'],
  ['State', 'state'],
  ['Manifest', 'file'],
  ['Changed', 'since'],
]

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

/** The query of the list that the address asks for. */
export function listQuery() {
  const wanted = readAddress()
  const query = new URLSearchParams({
    limit: String(PAGE_SIZE),
    offset: String((pageOf(wanted) - 1) * PAGE_SIZE),
  })
  for (const name of /** @type {const} */ ([...FILTERS, 'sort', 'order'])) {
    const value = wanted[name]
    if (value !== undefined) query.set(name, value)
  }
  return query
}

/** @param {Address} wanted */
function pageOf({ page }) {
  const number = Number(page)
  return Number.isInteger(number) && number > 0 ? number : 1
}

/** Puts the filter into force whenever it is touched. */
export function setUpFilter() {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  byId('filter').addEventListener('submit', (event) => event.preventDefault())
  byId('filter').addEventListener('input', (event) => {
    const typing = event.target === byId('q')
    clearTimeout(timer)
    timer = setTimeout(apply, typing ? TYPING_MS : 0, typing)
  })
  byId('clear').addEventListener('click', () => {
    go({})
    byId('q').focus()
  })
  byId('previous').addEventListener('click', () => turn(-1))
  byId('next').addEventListener('click', () => turn(1))
  byId('sort').replaceChildren(...SORTS.map(([value, text]) => element('option', { value }, text)))
}

/** @param {boolean} typing */
function apply(typing) {
  const wanted = readAddress()
  const chosen = Object.fromEntries(FILTERS.map((name) => [name, fieldOf(name).value.trim()]))
  const sort = selectOf('sort').value
  const order = sort === (wanted.sort ?? 'key') ? wanted.order : undefined
  go({ ...wanted, ...chosen, sort: sort === 'key' ? '' : sort, order, page: '', resource: '' }, { typing })
}

/** A field of the filter: a text, or something to choose from. @param {typeof FILTERS[number]} name */
function fieldOf(name) {
  return name === 'q' ? controlById(name, HTMLInputElement) : selectOf(name)
}

/** @param {string} id */
function selectOf(id) {
  return controlById(id, HTMLSelectElement)
}

/** @param {1 | -1} by */
function turn(by) {
  const wanted = readAddress()
  const page = pageOf(wanted) + by
  go({ ...wanted, page: page <= 1 ? '' : String(page) })
  byId('resources').scrollIntoView()
}

/** Shows in the filter what the address says. */
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
}

/** What can be chosen, with how many there are of each. @param {FacetsReply} reply @param {OverviewReply['counts']} counts */
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

/** The list, and how much of it is shown. @param {ResourcesReply} reply @param {OverviewReply} overview */
export function showList({ items, total }, overview) {
  const wanted = readAddress()
  const page = pageOf(wanted)
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE))
  const all = Object.values(overview.counts).reduce((sum, count) => sum + count, 0)
  byId('filter').hidden = all === 0
  setText('matches', matchesText(total, all, overview.manifestsDir))
  byId('list').replaceChildren(...(items.length === 0 ? [] : [resourceTable(items, wanted)]))
  byId('pages').hidden = pages === 1 && page === 1
  controlById('previous', HTMLButtonElement).disabled = page <= 1
  controlById('next', HTMLButtonElement).disabled = page >= pages
  setText('which-page', `Page ${page} of ${pages}`)
}

/** @param {number} total @param {number} all @param {string} manifestsDir */
function matchesText(total, all, manifestsDir) {
  if (all === 0) {
    return `There are no manifests in ${manifestsDir} yet. Put one there, such as a Service and a Pipe, and it appears here.`
  }
  if (total === 0) return 'No resource matches the filter.'
  return total === all ? `${all} in all` : `${total} of ${all} match`
}

/** @param {readonly ResourceSummary[]} items @param {Address} wanted */
function resourceTable(items, wanted) {
  return element(
    'table',
    { class: 'list', role: 'table' },
    element('caption', { class: 'unseen' }, 'Resources'),
    element(
      'thead',
      { role: 'rowgroup' },
      element('tr', { role: 'row' }, ...COLUMNS.map((column) => columnHead(column, wanted))),
    ),
    element('tbody', { role: 'rowgroup' }, ...items.map(resourceRow)),
  )
}

/** @param {typeof COLUMNS[number]} column @param {Address} wanted */
function columnHead([title, name], wanted) {
  const sort = wanted.sort ?? 'key'
  const down = wanted.order === 'desc'
  const state = sort !== name ? undefined : down ? 'descending' : 'ascending'
  const order = sort === name && !down ? 'desc' : undefined
  const press = button({ id: `sort-${name}` }, title, () =>
    go({ ...readAddress(), sort: name === 'key' ? '' : name, order, page: '' }),
  )
  return element('th', { scope: 'col', role: 'columnheader', 'aria-sort': state }, press)
}

/** @param {ResourceSummary} resource */
function resourceRow({ key, status, reason, message, labels, service, state, file, line, since }) {
  const names = Object.entries(labels).map(([name, value]) => labelLink(`${name}=${value}`))
  const link = resourceLink(key)
  link.id = `row-${key}`
  const cells = row([
    badge(status),
    element('div', {}, link, ' ', ...names.flatMap((name) => [name, ' '])),
    element('div', {}, word(reason), element('div', { class: 'cut', title: message }, foreign(message))),
    service === undefined ? '' : foreign(service),
    state === undefined ? '' : foreign(state),
    file === undefined ? '' : code(place(file, line)),
    ago(since),
  ])
  cells.setAttribute('role', 'row')
  for (const [index, [title]] of COLUMNS.entries()) {
    cells.cells[index]?.setAttribute('role', 'cell')
    cells.cells[index]?.setAttribute('data-title', title)
  }
  return cells
}

/** @param {string} label */
function labelLink(label) {
  return element('a', { class: 'label', href: addressOf({ label }), 'data-inside': true }, foreign(label))
}
