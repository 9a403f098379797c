import { letThrough } from './act.js'
import { addressOf, isFiltered, readAddress } from './address-bar.js'
import { copyable } from './copy.js'
import { keyLinks, placeLink, resourceLink, revisionLink, revisionWord, serviceLink } from './links.js'
import { badge, code, foreign, h, place, prose, toneOf, word } from './markup.js'
import { sinceWhen } from './time.js'

/**
 * @import { Paged } from '../parameters.ts'
 * @import { Card } from '../problems.ts'
 * @import { FindingsReply } from '../api/overview.ts'
 * @import { NextStep } from '../shown-resource.ts'
 * @import { Finding } from '../../kinds/finding.ts'
 * @import { Shown } from './markup.js'
 */

/** Maximum of problems shown in full. If there are more, at most one of each reason. */
const OPEN = 3

const PLACES = 12

/** @param {readonly Card[]} items @returns {ReadonlySet<Card>} */
function openOf(items) {
  if (items.length <= OPEN) return new Set(items)
  const first = new Map(items.toReversed().map((item) => [item.reason ?? item.id, item]))
  return new Set(items.filter((item) => first.get(item.reason ?? item.id) === item).slice(0, OPEN))
}

/** @param {Paged<Card>} reply */
export function problems({ items, total }) {
  if (total === 0 && !isFiltered()) return ''
  const open = openOf(items)
  const rest = total - items.length
  const more =
    total === 0 ? 'No matching resource needs attention.' : `and ${rest} more; they are in the list below`
  return h`<section id="unwell-section" aria-labelledby="unwell-title">
    <h2 id="unwell-title">Needs attention, ${isFiltered() ? 'within the filter' : 'worst first'}</h2>
    <ol id="unwell" class="cards">
      ${items.map((item) => (open.has(item) ? h`<li key=${item.id}>${parts(item)}</li>` : line(item)))}
    </ol>
    ${(total === 0 || rest > 0) && h`<p id="attention-more" class="quiet">${more}</p>`}
  </section>`
}

/** A problem in one line, which opens on a click. @param {Card} problem */
function line(problem) {
  const { id, status, what, keys, count, file, line: at } = problem
  const about = count > 1 ? `${count} resources, each:` : (keys[0] ?? place(file, at))
  return h`<li key=${`line ${id}`} class=${`card-line ${toneOf(status)}`}><details>
    <summary>${badge(status)} <b>${foreign(about)}</b> ${what}</summary>
    ${parts(problem)}
  </details></li>`
}

/** @param {Card} problem */
function parts(problem) {
  const { status, reason, service, what, message, since, keys, count, differences, findings, next } = problem
  // Also allows blocked creates that the filter hides. The dialog shows their number.
  const press = () => void letThrough(service)
  const allow =
    reason === 'CreateLimit' && h`<button class="of-acting" onClick=${press}>Let this through</button>`
  return h`<div class=${`card ${toneOf(status)}`}>
    <div>
      <h3>${badge(status)} ${titleOf(problem)}<span class="what"> ${what}</span></h3>
      <p class="meta">${since !== undefined && sinceWhen(since)}${origin(problem)}</p>
      <p class="message">${foreign(message)}</p>
      ${differences.length > 0 && differenceList(problem)}
      ${findings.length > 0 && findingList(findings)}
      ${count > 1 && h`<p>${keyLinks(keys)}${count > keys.length && `and ${count - keys.length} more`}</p>`}
    </div>
    ${nextSteps(next, allow)}
  </div>`
}

/** Omits the text of a single finding, because the problem shows that text. @param {readonly Finding[]} findings */
function findingList(findings) {
  const [only, other] = findings
  const isOnly = only !== undefined && other === undefined
  const items = isOnly
    ? h`<li class="finding">${picture(only)}</li>`
    : findings.map((each) => findingItem(each))
  return h`<ul class="findings">${items}</ul>`
}

/** @param {Card} problem */
function titleOf({ keys: [key], count, status, reason, service, file, line: at }) {
  if (count === 1 && key !== undefined) return resourceLink(key)
  if (count === 0) return h`<span class="key">${file !== undefined && placeLink(file, at)}</span>`
  const whose = service === undefined ? '' : ` of service ${service}`
  const address = `${addressOf({ ...readAddress(), status, reason, service, page: '' })}#resources`
  return h`<a class="key" href=${address} data-inside>${count} resources${whose}, each:</a>`
}

/** Facts that all resources of the problem share. @param {Card} problem @returns {Shown} */
function origin({ count, service, file, line: at, revision, reason }) {
  return [
    reason && word(reason),
    // With several resources, the title has the service.
    service !== undefined && count <= 1 && h`<span>service ${serviceLink(service)}</span>`,
    file !== undefined && count > 0 && h`<span>${placeLink(file, at)}</span>`,
    revision && h`<span>${revisionWord(revision)} ${revisionLink(revision)}</span>`,
  ]
}

/** @param {Card} problem */
function differenceList({ differences }) {
  const items = differences.slice(0, 5).map(
    ({ field, desired, observed }) => h`<li>${code(field)}: the manifest asks for${' '}
      <ins>${foreign(desired)}</ins>, the platform has <del>${foreign(observed)}</del></li>`,
  )
  return h`<ul class="differences">${items}</ul>`
}

/** @param {readonly NextStep[]} steps @param {Shown} act a button or link below the steps */
export function nextSteps(steps, act) {
  if (steps.length === 0) return ''
  const items = steps.map(
    ({ text, copy }) => h`<li>${prose(text)} ${copy !== undefined && copyable(copy)}</li>`,
  )
  return h`<div class="next">
    <p><b>Next step</b></p>
    <ul>${items}</ul>
    ${act && h`<p>${act}</p>`}
  </div>`
}

/** Equal findings are one item with several places. @param {FindingsReply} reply */
export function findingsOf({ items, total }) {
  if (total === 0) return ''
  const groups = [...Map.groupBy(items, mistakeOf).values()]
  const rest = total - items.length
  const more = h`<p class="quiet">and ${rest} more: <a href="api/v1/findings">all of them as data</a></p>`
  return h`<h3>Findings in manifests (${total})</h3>
    <ul class="findings">${groups.map(([first, ...others]) => first && findingItem(first, others))}</ul>
    ${rest > 0 && more}`
}

/** Equal for the same mistake in several list items. @param {Finding} finding */
function mistakeOf({ severity, code: name, message, hint }) {
  return JSON.stringify([severity, name, message.replaceAll(/\[\d+\]/g, '[]'), hint])
}

/** @param {Finding} finding @param {readonly Finding[]} [others] with the same mistake */
export function findingItem(finding, others = []) {
  const { severity, message, hint, related, code: name } = finding
  return h`<li class="finding">
    <p>${badge(severity)} ${foreign(message)} <span class="quiet">${name}</span></p>
    ${picture(finding)}
    <p>${foreign(hint)}</p>
    ${related.map((one) => h`<p class="quiet">${placeLink(one.file, one.line)} ${foreign(one.message)}</p>`)}
    ${others.length > 0 && samePlaces(others)}
  </li>`
}

/** @param {readonly Finding[]} others */
function samePlaces(others) {
  const rest = others.length - PLACES
  const places = others.slice(0, PLACES).map(({ file, line: at }) => [' ', placeLink(file, at)])
  const title = `The same at ${others.length} more ${others.length === 1 ? 'place' : 'places'}:`
  return h`<p class="places">${title}${places}${rest > 0 && ` and ${rest} more`}</p>`
}

/** @param {Finding} finding */
function picture({ file, line: at, column, endColumn, lineText }) {
  const where = h`<p class="quiet">${placeLink(file, at, column)}</p>`
  if (lineText.trim() === '') return where
  // A masked or cut line can end before the mistake.
  const from = Math.min(column - 1, Math.max(0, lineText.length - 1))
  const to = Math.max(from + 1, Math.min(endColumn - 1, lineText.length))
  const text = [lineText.slice(0, from), h`<mark>${lineText.slice(from, to)}</mark>`, lineText.slice(to)]
  const gutter = h`<span class="gutter quiet" aria-hidden="true">${`${at} `}</span>`
  return [where, h`<pre tabindex="0" aria-label=${`Line ${at} of ${file}`}>${gutter}${text}</pre>`]
}
