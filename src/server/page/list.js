import { addressOf, FILTERS, go, isFiltered, readAddress, unfiltered } from './address-bar.js'
import { placeLink, resourceLink } from './links.js'
import { badge, foreign, h, head, place, rowsOf, word, worded } from './markup.js'
import { ago } from './time.js'
import { stateWords } from './states.js'
import { change, view } from './view.js'

/**
 * @import { OverviewReply } from '../api/overview.ts'
 * @import { Facet, PageReply } from '../api/page.ts'
 * @import { ShownResource } from '../shown-resource.ts'
 * @import { Sort } from '../api/selection.ts'
 * @import { Address } from './address-bar.js'
 * @import { Shown } from './markup.js'
 * @typedef {NonNullable<PageReply['whole']>} Whole
 */

const PAGE_SIZE = 50

/** Title, and name for sorting. Undefined: not sortable. @type {readonly (readonly [string, Sort | undefined])[]} */
const COLUMNS = [
  ['Status', 'status'],
  ['Resource', 'key'],
  ['Reason', 'reason'],
  ['Owner, labels', undefined],
  ['Service', 'service'],
  ['State', 'state'],
  ['Manifest', 'file'],
  ['Changed', 'since'],
]

/** Has no column, but the list can be sorted by it. @type {typeof COLUMNS[number]} */
const KIND = ['Kind', 'kind']

export function listQuery() {
  const wanted = readAddress()
  const query = new URLSearchParams(addressOf({ ...wanted, resource: '', page: '' }).replace(/^[^?]*/, ''))
  query.set('limit', String(PAGE_SIZE))
  query.set('offset', String((pageOf(wanted) - 1) * PAGE_SIZE))
  return query
}

/** @param {Address} wanted */
function pageOf({ page }) {
  const number = Number(page)
  return Number.isInteger(number) && number > 0 ? number : 1
}

/** @param {Whole['list']} list */
export function leaveEmptyPage({ items, total }) {
  const wanted = readAddress()
  const pages = Math.ceil(total / PAGE_SIZE)
  if (items.length > 0 || total === 0 || pageOf(wanted) <= pages) return
  go({ ...wanted, page: pages === 1 ? '' : String(pages) }, { isReplacing: true })
}

/** @param {Whole['list'] | undefined} list undefined: the server refused the query @param {OverviewReply} overview */
export function resources(list, overview) {
  const wanted = readAddress()
  const page = pageOf(wanted)
  const pages = Math.max(1, Math.ceil((list?.total ?? 0) / PAGE_SIZE))
  const { refused } = view
  const matches = list ? matchesText(list.total, overview) : refused && `${refused.error}. ${refused.hint}`
  return h`<section id="resources" aria-labelledby="resources-title">
    <h2 id="resources-title">Resources</h2>
    <p id="matches" class="quiet" role="status">${matches}</p>
    <div id="list">${list && list.items.length > 0 && resourceTable(list.items, wanted)}</div>
    ${
      list !== undefined &&
      (pages > 1 || page > 1) &&
      h`<nav id="pages" aria-label="Pages of the list">
      <button id="previous" class="plain" disabled=${page <= 1} onClick=${() => turnPage(-1)}>Previous</button>
      <span id="which-page">Page ${page} of ${pages}</span>
      <button id="next" class="plain" disabled=${page >= pages} onClick=${() => turnPage(1)}>Next</button>
    </nav>`
    }
  </section>`
}

/** @param {1 | -1} by */
function turnPage(by) {
  const wanted = readAddress()
  const page = pageOf(wanted) + by
  go({ ...wanted, page: page <= 1 ? '' : String(page) })
  document.getElementById('resources')?.scrollIntoView()
}

/** @param {OverviewReply} overview */
function countAll({ counts }) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0)
}

/** @param {number} total @param {OverviewReply} overview */
function matchesText(total, overview) {
  const all = countAll(overview)
  if (all === 0 && overview.sourceProblem !== undefined)
    return 'No data yet: Pipewright could not accept the manifests. The cause is at the top of this page.'
  if (all === 0) {
    return `There are no manifests in ${overview.manifestsDir} yet. Put a Service and a Pipe there. They then appear here.`
  }
  if (total === 0) return 'No resource matches the filter.'
  return total === all ? `${all} in all` : `${total} of ${all} match`
}

/** @param {readonly ShownResource[]} items @param {Address} wanted */
function resourceTable(items, wanted) {
  const heads = COLUMNS.map((column) => columnHead(column, wanted))
  return rowsOf('Resources', 'list', heads, items.map(resourceRow))
}

/** @param {typeof COLUMNS[number]} column @param {Address} wanted */
function columnHead([title, name], wanted) {
  if (name === undefined) return head(title)
  const isSorted = (wanted.sort ?? 'key') === name
  const down = wanted.order === 'desc'
  const state = !isSorted ? undefined : down ? 'descending' : 'ascending'
  const order = isSorted && !down ? 'desc' : undefined
  const sort = () => go({ ...readAddress(), sort: name === 'key' ? '' : name, order, page: '' })
  return head(h`<button id=${`sort-${name}`} class="plain" onClick=${sort}>${title}</button>`, state)
}

/** @param {ShownResource} resource */
function resourceRow(resource) {
  const { key, status, reason, message, labels, service, file, line, since } = resource
  const cells = [
    badge(status),
    cut(key, resourceLink(key, key, `row-${key}`)),
    cut(message, [word(reason), ' ', foreign(message)]),
    labelLinks(labels),
    service && foreign(service),
    stateWords(resource),
    file !== undefined && cut(place(file, line), placeLink(file, line)),
    ago(since),
  ]
  return { key, cells }
}

/** @param {string} title @param {Shown} shown */
function cut(title, shown) {
  return h`<div class="cut" title=${title}>${shown}</div>`
}

const OWNER = /(?:^|\/)(?:owner|team)$/

/** @param {Readonly<Record<string, string>>} labels */
function labelLinks(labels) {
  const names = Object.keys(labels).toSorted((a, b) => Number(OWNER.test(b)) - Number(OWNER.test(a)))
  return names.map((name) => {
    const label = `${name}=${labels[name]}`
    const isNamed = OWNER.test(name)
    return h`<a class=${isNamed ? 'label owner' : 'label'} href=${addressOf({ label })} title=${label} data-inside>
      ${foreign(isNamed ? String(labels[name]) : label)}</a> `
  })
}

/** @typedef {readonly (readonly [value: string, text: string])[]} Options */

/** @param {readonly Facet[]} [values] @returns {Options} */
function counted(values = []) {
  return values.map(({ value, count }) => [value, `${value} (${count})`])
}

/** @param {OverviewReply} overview @param {Whole['facets'] | undefined} facets */
export function filter(overview, facets) {
  if (countAll(overview) === 0) return ''
  const wanted = readAddress()
  const isOpen = view.areFiltersOpen || FILTERS.some((name) => name !== 'q' && wanted[name] !== undefined)
  const statuses = Object.entries(overview.counts).map(
    ([status, count]) => /** @type {const} */ ([status, `${worded(status)} (${count})`]),
  )
  /** @param {Exclude<typeof FILTERS[number], 'q'>} name @param {Options} options */
  const choice = (name, options) =>
    (options.length > 0 || wanted[name] !== undefined) && select(name, wanted[name] ?? '', options)
  return h`<form id="filter" class=${isOpen ? 'open' : ''} role="search" aria-label="Filter this page"
    onInput=${applyFilter} onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
    <label class="wide">
      <span>Find <span class="hint" aria-hidden="true">( / goes here, Esc clears the filter)</span></span>
      <input id="q" name="q" type="search" placeholder="name, reason, label…" aria-keyshortcuts="/ Escape"
        autocomplete="off" />
    </label>
    ${choice('kind', counted(facets?.kinds))}
    ${choice('status', statuses)}
    ${choice('reason', counted(facets?.reasons))}
    ${choice('service', counted(facets?.services))}
    ${choice('label', counted(facets?.labels))}
    ${choice('file', counted(facets?.files))}
    <label>Sort by${' '}
      <select id="sort" name="sort" value=${wanted.sort ?? 'key'}>
        ${[...COLUMNS, KIND].map(([text, value]) => value && h`<option value=${value}>${text}</option>`)}
      </select>
    </label>
    <button id="more-filters" class="plain" type="button" aria-expanded=${String(isOpen)} onClick=${openFilters}>
      More filters</button>
    ${isFiltered() && h`<button id="clear" class="plain" type="button" onClick=${clear}>Clear the filter</button>`}
  </form>`
}

/** @param {string} name @param {string} value @param {Options} options */
function select(name, value, options) {
  const isMissing = value !== '' && !options.some(([known]) => known === value)
  const all = [['', 'all'], ...options, ...(isMissing ? [[value, value]] : [])]
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  return h`<label key=${name}>${title}${' '}
    <select id=${name} name=${name} value=${value}>
      ${all.map(([known, text]) => h`<option value=${known}>${text}</option>`)}
    </select>
  </label>`
}

/** Keeps the field's text if only outer spaces differ, because a person might be typing. */
export function showSearch() {
  const field = searchField()
  const { q = '' } = readAddress()
  if (field && field.value.trim() !== q) field.value = q
}

/** @returns {HTMLInputElement | null} */
function searchField() {
  return document.querySelector('input#q')
}

/** @param {Event} event */
function applyFilter({ currentTarget, target }) {
  if (!(currentTarget instanceof HTMLFormElement) || !(target instanceof Element)) return
  const wanted = readAddress()
  const { sort, ...chosen } = /** @type {Address} */ (Object.fromEntries(new FormData(currentTarget)))
  const order = sort === (wanted.sort ?? 'key') ? wanted.order : undefined
  const q = chosen.q?.trim()
  go(
    { ...wanted, ...chosen, q, sort: sort === 'key' ? '' : sort, order, page: '', resource: '' },
    { typing: target.id === 'q' },
  )
}

function openFilters() {
  change({ areFiltersOpen: true })
  document.getElementById('kind')?.focus()
}

function clear() {
  go(unfiltered())
  searchField()?.focus()
}

/**
 * `/` focuses the filter. There, Escape clears the text, then all filters, then leaves the field. Elsewhere,
 * Escape leaves the resource or clears all filters.
 * @param {KeyboardEvent} event
 */
export function onKey(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
  if (view.question !== undefined) return
  const { key, target } = event
  const field = searchField()
  const wanted = readAddress()
  if (key === 'Escape' && field && target === field) {
    event.preventDefault()
    if (field.value !== '') {
      field.value = ''
      go({ ...wanted, q: '', page: '' }, { typing: true })
    } else if (isFiltered()) go(unfiltered())
    else field.blur()
    return
  }
  if (target instanceof HTMLElement && target.matches('input, select')) return
  if (key === '/') event.preventDefault()
  else if (key !== 'Escape') return
  if (wanted.resource !== undefined) go({ ...wanted, resource: '' })
  else if (key === 'Escape' && isFiltered()) go(unfiltered())
  if (key !== '/') return
  searchField()?.focus()
  searchField()?.select()
}
