import { go, isFiltered, readAddress } from './address-bar.js'
import { keyLinks, resourceLink, revisionLink } from './links.js'
import { foreign, h, plural, toneOf, worded } from './markup.js'
import { commitWords } from './summary.js'
import { ago } from './time.js'
import { change, view } from './view.js'

/**
 * @import { TimelineEntry, TimelineReply } from '../api/timeline.ts'
 * @import { Shown } from './markup.js'
 */

/**
 * @typedef {Extract<TimelineEntry, { type: 'condition' }>} ConditionEntry
 * @typedef {{ readonly keys: boolean, readonly invalidSince?: number | undefined }} How
 *   `keys`: entries name the resource. `invalidSince`: when its manifest became invalid, ms since the epoch
 * @typedef {{ tone: string, what: Shown, about: Shown, message: string }} Words
 */

const ENTRIES = 8

const NAMED = 3

/** @param {Event} event */
function choose({ currentTarget }) {
  view.entries = ENTRIES
  const chosen = currentTarget instanceof HTMLSelectElement ? currentTarget.value : ''
  go({ ...readAddress(), story: chosen })
}

function showMore() {
  change({ entries: Math.min(view.entries * 2, 500) })
  dispatchEvent(new Event('checked'))
}

const TYPES = {
  '': 'everything',
  revision: 'commits',
  action: 'creations and upserts',
  condition: 'conditions',
  source: 'source',
}

/** @param {TimelineReply | undefined} reply undefined: the server refused the query */
export function story(reply) {
  const { story: type = '' } = readAddress()
  const none = isFiltered()
    ? 'No entry matches the filter.'
    : 'No entries yet. Commits, actions and changed conditions appear here, newest first.'
  return h`<section id="story" aria-labelledby="story-title">
    <div class="title-row">
      <h2 id="story-title">What changed</h2>
      <label>Show${' '}
        <select id="story-type" value=${type} onInput=${choose}>
          ${Object.entries(TYPES).map(([value, text]) => h`<option value=${value}>${text}</option>`)}
        </select>
      </label>
    </div>
    ${reply?.items.length === 0 && h`<p id="story-empty" class="quiet">${none}</p>`}
    <ol id="entries" class="story">${reply && storyItems(reply.items, { keys: true })}</ol>
    ${reply?.more === true && h`<p><button id="story-more" class="plain" onClick=${showMore}>Show older</button></p>`}
  </section>`
}

/**
 * A resource's conditions that changed together become one entry.
 * @param {readonly TimelineEntry[]} entries newest first @param {How} how
 */
export function storyItems(entries, how) {
  /** @type {TimelineEntry[][]} */
  const groups = []
  for (const entry of entries) {
    const group = groups.at(-1) ?? []
    const [first] = group
    const isSame = first?.type === 'condition' && entry.type === 'condition' && entry.key === first.key
    if (isSame && entry.at === first.at && entry.revision === first.revision) group.push(entry)
    else groups.push([entry])
  }
  /** Keys whose manifest is invalid at the time of `group`. @type {Set<string>} */
  const invalid = new Set()
  return groups
    .toReversed()
    .map((group) => {
      const [first] = group
      if (first === undefined) return ''
      const conditions = conditionsIn(first.type === 'alike' ? first.entries : group)
      const keys = first.type === 'alike' ? first.keys : conditions.slice(0, 1).map(({ key }) => key)
      const valid = conditions.find(({ condition }) => condition === 'Valid')
      if (valid !== undefined)
        for (const key of keys) invalid[valid.status === 'False' ? 'add' : 'delete'](key)
      if (first.type !== 'condition') return storyItem(first, wordsOf(first, how), how)
      const isInvalid = invalid.has(first.key) || first.at > (how.invalidSince ?? Infinity)
      return storyItem(first, conditionWords(first, conditions, how, isInvalid), how)
    })
    .toReversed()
}

/** @param {readonly TimelineEntry[]} entries */
function conditionsIn(entries) {
  return entries.filter((entry) => entry.type === 'condition')
}

/** @param {TimelineEntry} entry @param {Words} words @param {How} how */
function storyItem(entry, { tone, what, about, message }, how) {
  return h`<li class=${`entry ${entry.type} ${tone}`}>
    <span>${ago(entry.at)}</span>
    <div class="entry-title" title=${message}>
      ${what} ${about}${message !== '' && h`<span class="quiet"> ${foreign(message)}</span>`}
    </div>
    <span class="where quiet">${originOf(entry, how)}</span>
  </li>`
}

const WORST_FIRST = ['False', 'Unknown', 'True']
const TELLING_FIRST = ['Ready', 'Synced', 'Valid']

/**
 * The worst condition gives tone and message. With an invalid manifest, a ready resource is shown as "still Invalid".
 * @param {ConditionEntry} first @param {readonly ConditionEntry[]} group changed together
 * @param {How} how @param {boolean} [isInvalid] @returns {Words}
 */
function conditionWords(first, group, how, isInvalid = false) {
  const what = how.keys && resourceLink(first.key)
  const [worst = first] = group.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status) ||
      TELLING_FIRST.indexOf(a.condition) - TELLING_FIRST.indexOf(b.condition),
  )
  const { status, condition, reason, message } = worst
  const isOfManifest = condition === 'Valid'
  const state = status === 'True' ? (isOfManifest ? 'Valid' : 'Ready') : reason
  if (isInvalid && state === 'Ready')
    return { tone: 'calm', what, about: h`<span>is still <b>Invalid</b></span>`, message: first.message }
  const became = isOfManifest && status === 'False' ? 'Invalid' : worded(state)
  const tone = status === 'False' ? 'bad' : toneOf(status)
  return { tone, what, about: h`<span>became <b>${became}</b></span>`, message }
}

/** @param {TimelineEntry} entry @param {How} how @returns {Shown} */
function originOf(entry, { keys }) {
  if (entry.type === 'alike') return revisionLink(entry.revision)
  if (entry.type !== 'action' && entry.type !== 'condition') return ''
  const { revision, requestId } = entry
  const request = `request ${requestId}`
  return [
    revisionLink(revision),
    requestId !== undefined && h`<span title=${request}>${keys ? '' : ` ${request}`}</span>`,
  ]
}

/**
 * "300 resources became Create limit: a, b, c and 297 more"
 * @param {Extract<TimelineEntry, { type: 'alike' }>} entry @returns {Words}
 */
function alikeWords({ keys, more, entries }) {
  const [first] = entries
  const { tone, about } =
    first.type === 'condition'
      ? conditionWords(first, conditionsIn(entries), { keys: false })
      : wordsOf(first, { keys: false })
  const together =
    first.type === 'action' ? actionWords(first).replace(/^was /, 'were ').replace(/^is /, 'are ') : about
  const rest = keys.length - NAMED
  return {
    tone,
    what: mark(`${more ? 'At least ' : ''}${plural(keys.length, 'resource')}`),
    about: [together, ': ', keyLinks(keys.slice(0, NAMED)), rest > 0 && `and ${rest} more`],
    message: '',
  }
}

/** @param {Exclude<TimelineEntry, ConditionEntry>} entry @param {How} how @returns {Words} */
function wordsOf(entry, how) {
  switch (entry.type) {
    case 'alike':
      return alikeWords(entry)
    case 'revision':
      return revisionWords(entry)
    case 'source': {
      const tone = entry.what === 'problem' ? 'bad' : 'calm'
      return { tone, what: mark('Source'), about: SOURCE_WORDS[entry.what], message: entry.message }
    }
    case 'action': {
      const tone = entry.result === 'done' ? 'good' : entry.result === 'started' ? 'calm' : 'bad'
      return {
        tone,
        what: how.keys && resourceLink(entry.key),
        about: actionWords(entry),
        message: entry.message,
      }
    }
  }
}

/** @type {Readonly<Record<string, string>>} */
const DONE_WORDS = {
  create: 'was created',
  adopt: 'was adopted',
  upsert: 'was applied',
  update: 'was sent a change',
  intent: 'is about to be created',
  move: 'was renamed',
  forget: 'was forgotten',
  allow: 'was let through the create limit',
}

/** @param {Extract<TimelineEntry, { type: 'action' }>} entry */
function actionWords({ action, result }) {
  if (result === 'failed') return `${action} failed`
  if (result === 'unknown') return `${action}: its outcome is unknown`
  return DONE_WORDS[action] ?? action
}

/** @satisfies {Record<Extract<TimelineEntry, { type: 'source' }>['what'], string>} */
const SOURCE_WORDS = {
  problem: 'not accepted',
  recovered: 'accepted again',
  watch: '',
}

/** @param {string} text */
function mark(text) {
  return h`<b>${text}</b>`
}

/** @param {Extract<TimelineEntry, { type: 'revision' }>} entry @returns {Words} */
function revisionWords(entry) {
  const isContent = 'from' in entry && entry.from === 'content'
  const title = mark(isContent ? 'Revision' : 'Commit')
  const what = h`<span>${title} ${revisionLink(entry.revision)}${'commit' in entry && commitWords(entry)}</span>`
  if ('earlier' in entry)
    return { tone: 'commit', what, about: 'was read by an earlier process', message: '' }
  const { keys, changed, removed, errors, warnings } = entry
  const faults = [errors > 0 && plural(errors, 'error'), warnings > 0 && plural(warnings, 'warning')]
  const rest = changed - keys.length
  const shown = changed <= 5 ? keys : []
  return {
    tone: errors > 0 ? 'bad commit' : 'commit',
    what,
    about: [
      `${changeWords(changed - removed, removed)}${shown.length > 0 ? ': ' : ''}`,
      keyLinks(shown),
      rest > 0 && shown.length > 0 ? `and ${rest} more` : '',
    ],
    message: faults.filter(Boolean).join(', '),
  }
}

/** @param {number} changed @param {number} removed */
function changeWords(changed, removed) {
  if (changed + removed === 0) return 'no manifest changed'
  if (changed === 0) return `${plural(removed, 'manifest')} removed`
  const rest = removed === 0 ? '' : `, ${removed} removed`
  return `${plural(changed, 'manifest')} new or changed${rest}`
}
