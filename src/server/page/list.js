import { addressOf, go, narrowed, readAddress } from './address-bar.js'
import { badge, button, byId, controlById, element, foreign, place, row, setText, word } from './elements.js'
import { ago } from './time.js'
import { resourceLink } from './problem.js'
import { placeLink } from './repository.js'
import { stateWords } from './states.js'

/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { ResourceSummary } from '../api/resources.ts'
 * @import { PageReply } from '../api/page.ts'
 * @import { Sort } from '../api/selection.ts'
 * @import { Address } from './address-bar.js'
 */

export const PAGE_SIZE = 50

/** Title and sort name. @type {readonly (readonly [string, Sort])[]} */
const COLUMNS = [
  ['Status', 'status'],
  ['Resource', 'key'],
  ['Reason', 'reason'],
  ['Service', 'service'],
  ['State', 'state'],
  ['Manifest', 'file'],
  ['Changed', 'since'],
]

export function listQuery() {
  const wanted = readAddress()
  const query = narrowed()
  query.set('limit', String(PAGE_SIZE))
  query.set('offset', String((pageOf(wanted) - 1) * PAGE_SIZE))
  for (const name of /** @type {const} */ (['sort', 'order'])) {
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

export function setUpPages() {
  byId('previous').addEventListener('click', () => turnPage(-1))
  byId('next').addEventListener('click', () => turnPage(1))
}

/** @param {1 | -1} by */
function turnPage(by) {
  const wanted = readAddress()
  const page = pageOf(wanted) + by
  go({ ...wanted, page: page <= 1 ? '' : String(page) })
  byId('resources').scrollIntoView()
}

/** @param {NonNullable<PageReply['whole']>['list']} reply @param {OverviewReply} overview */
export function showList({ items, total }, overview) {
  const wanted = readAddress()
  const page = pageOf(wanted)
  const pages = Math.max(1, Math.ceil(total / PAGE_SIZE))
  const all = Object.values(overview.counts).reduce((sum, count) => sum + count, 0)
  if (items.length === 0 && total > 0 && page > pages) {
    history.replaceState({}, '', addressOf({ ...wanted, page: pages === 1 ? '' : String(pages) }))
    dispatchEvent(new Event('addresschange'))
    return
  }
  byId('filter').hidden = all === 0
  setText('matches', matchesText(total, all, overview))
  byId('list').replaceChildren(...(items.length === 0 ? [] : [resourceTable(items, wanted)]))
  byId('pages').hidden = pages === 1 && page === 1
  controlById('previous', HTMLButtonElement).disabled = page <= 1
  controlById('next', HTMLButtonElement).disabled = page >= pages
  setText('which-page', `Page ${page} of ${pages}`)
}

/** @param {number} total @param {number} all @param {OverviewReply} overview */
function matchesText(total, all, { manifestsDir, sourceProblem }) {
  if (all === 0 && sourceProblem !== undefined)
    return 'There is no data yet: no reading of the manifests was accepted.'
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
function resourceRow(resource) {
  const { key, status, reason, message, labels, service, file, line, since } = resource
  const names = Object.entries(labels).map(([name, value]) => labelLink(`${name}=${value}`))
  const link = resourceLink(key)
  link.id = `row-${key}`
  return row([
    badge(status),
    element('div', { class: 'cut', title: key }, link, ' ', ...names.flatMap((name) => [name, ' '])),
    element('div', { class: 'cut', title: message }, word(reason), ' ', foreign(message)),
    service === undefined ? '' : foreign(service),
    stateWords(resource) ?? '',
    file === undefined
      ? ''
      : element('div', { class: 'cut', title: place(file, line) }, placeLink(file, line)),
    ago(since),
  ])
}

/** @param {string} label */
function labelLink(label) {
  return element('a', { class: 'label', href: addressOf({ label }), 'data-inside': true }, foreign(label))
}
