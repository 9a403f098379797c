import { narrowed } from './address-bar.js'
import { byId, element, foreign, plural, setText, toneOf, worded } from './elements.js'
import { revisionLink } from './repository.js'
import { ago } from './time.js'
import { resourceLink } from './problem.js'

/**
 * @import { TimelineReply } from '../api/timeline.ts'
 * @import { TimelineEntry } from '../api/timeline-entry.ts'
 * @import { Child } from './elements.js'
 */

/**
 * @typedef {Extract<TimelineEntry, { type: 'condition' }>} ConditionEntry
 * @typedef {Extract<TimelineEntry, { type: 'revision' }>} RevisionEntry
 * @typedef {Extract<TimelineEntry, { type: 'alike' }>} AlikeEntry
 * @typedef {{ readonly keys: boolean, readonly invalidSince?: number | undefined }} How
 *   `keys`: names the resource. `invalidSince`: of its manifest, ms since the epoch
 * @typedef {{ tone: string, what: Node | undefined, about: readonly Child[], message: string }} Words
 */

/** Entries per step. */
export const STORY_STEP = 8

/** Resources named in a group. */
const NAMED = 3

/** Newest first. @param {TimelineReply} reply */
export function showStory({ items, more }) {
  byId('story-empty').hidden = items.length > 0
  setText(
    'story-empty',
    narrowed().size === 0
      ? 'No entries yet. Commits, actions and changed conditions appear here, newest first.'
      : 'No entry matches the filter.',
  )
  byId('entries').replaceChildren(...storyItems(items, { keys: true }))
  byId('story-more').hidden = !more
}

/**
 * Merges the conditions of a resource that changed together.
 * @param {readonly TimelineEntry[]} entries @param {How} how
 */
export function storyItems(entries, how) {
  /** @type {{ readonly first: TimelineEntry, readonly conditions: ConditionEntry[] }[]} */
  const groups = []
  for (const entry of entries) {
    const group = groups.at(-1)
    if (entry.type !== 'condition') groups.push({ first: entry, conditions: [] })
    else if (group !== undefined && belongs(entry, group.first)) group.conditions.push(entry)
    else groups.push({ first: entry, conditions: [entry] })
  }
  /** State of each resource before the current line. @type {Map<string, string>} */
  const before = new Map()
  /** Resources with an invalid manifest at the current line. @type {Set<string>} */
  const invalid = new Set()
  return groups
    .toReversed()
    .map(({ first, conditions }) => {
      if (first.type === 'alike') {
        for (const key of first.keys) noteConditions(key, conditionsOf(first), { before, invalid })
        return storyItem(first, alikeWords(first), how)
      }
      if (first.type !== 'condition') return storyItem(first, wordsOf(first, how), how)
      const was = before.get(first.key)
      noteConditions(first.key, conditions, { before, invalid })
      const isInvalid = invalid.has(first.key) || first.at > (how.invalidSince ?? Infinity)
      if (isInvalid && stateAfter(conditions) === 'Ready')
        return storyItem(first, stillInvalid(conditions, how), how)
      return storyItem(first, conditionWords(first, conditions, { ...how, before: was }), how)
    })
    .toReversed()
}

/**
 * Records the state after a change.
 * @param {string} key @param {readonly ConditionEntry[]} conditions
 * @param {{ readonly before: Map<string, string>, readonly invalid: Set<string> }} known
 */
function noteConditions(key, conditions, { before, invalid }) {
  if (conditions.length === 0) return
  const valid = conditions.find(({ condition }) => condition === 'Valid')
  if (valid !== undefined) invalid[valid.status === 'False' ? 'add' : 'delete'](key)
  const state = stateAfter(conditions)
  if (!(invalid.has(key) && state === 'Ready')) before.set(key, state)
}

/** @param {ConditionEntry} entry @param {TimelineEntry} first */
function belongs(entry, first) {
  const both = first.type === 'condition' && entry.key === first.key
  return both && entry.at === first.at && entry.revision === first.revision
}

/** @param {TimelineEntry} entry @param {Words} words @param {How} how */
function storyItem(entry, { tone, what, about, message }, how) {
  return element(
    'li',
    { class: `entry ${entry.type} ${tone}` },
    element('span', { class: 'when' }, ago(entry.at)),
    element(
      'div',
      {},
      element(
        'p',
        { class: 'entry-title', title: message },
        what,
        ' ',
        ...about,
        message === '' ? undefined : element('span', { class: 'entry-message' }, ' ', foreign(message)),
      ),
    ),
    element('span', { class: 'where' }, ...originOf(entry, how)),
  )
}

/** @param {readonly ConditionEntry[]} group changed together */
function stateAfter(group) {
  const [worst] = sortedWorstFirst(group)
  if (worst === undefined) return ''
  if (worst.status === 'True') return worst.condition === 'Valid' ? 'Valid' : 'Ready'
  if (worst.condition === 'Valid') return worst.status === 'False' ? 'Invalid' : worst.reason
  return worst.reason
}

const WORST_FIRST = ['False', 'Unknown', 'True']
const TELLING_FIRST = ['Ready', 'Synced', 'Valid']

/** @param {readonly ConditionEntry[]} group */
function sortedWorstFirst(group) {
  return group.toSorted(
    (a, b) =>
      WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status) ||
      TELLING_FIRST.indexOf(a.condition) - TELLING_FIRST.indexOf(b.condition),
  )
}

/**
 * The worst condition gives tone and message: "became Drifted, was Ready".
 * @param {ConditionEntry} first @param {readonly ConditionEntry[]} group
 * @param {How & { readonly before: string | undefined }} how @returns {Words}
 */
function conditionWords(first, group, how) {
  const { status, message } = sortedWorstFirst(group)[0] ?? first
  const state = stateAfter(group)
  const was = how.before === undefined || how.before === state ? '' : `, was ${worded(how.before)}`
  return {
    tone: status === 'False' ? 'bad' : toneOf(status),
    what: nameOf(first, how),
    about: [element('span', {}, 'became ', element('b', {}, worded(state)), was)],
    message,
  }
}

/**
 * The resource is ready, but its manifest is invalid.
 * @param {readonly ConditionEntry[]} group @param {How} how @returns {Words}
 */
function stillInvalid(group, how) {
  const [first] = group
  const about = [element('span', {}, 'is still ', element('b', {}, worded('Invalid')))]
  return { tone: 'calm', what: first && nameOf(first, how), about, message: first?.message ?? '' }
}

/** @param {{ readonly key: string }} entry @param {How} how */
function nameOf({ key }, { keys }) {
  return keys ? resourceLink(key) : undefined
}

/** The resource's page shows the full request id. @param {TimelineEntry} entry @param {How} how */
function originOf(entry, { keys }) {
  if (entry.type === 'alike') return [revisionLink(entry.revision)]
  if (entry.type !== 'action' && entry.type !== 'condition') return []
  const { revision, requestId } = entry
  return [
    revisionLink(revision),
    requestId === undefined
      ? undefined
      : element('span', { title: `request ${requestId}` }, keys ? '' : ` request ${requestId}`),
  ].filter((one) => one !== undefined)
}

/** @param {AlikeEntry} entry @returns {readonly ConditionEntry[]} */
function conditionsOf({ entries }) {
  return entries.filter((one) => one.type === 'condition')
}

/** "300 resources became Create limit: a, b, c and 297 more" @param {AlikeEntry} entry @returns {Words} */
function alikeWords(entry) {
  const { keys, more, entries } = entry
  const [first] = entries
  const alone = { keys: false, before: undefined }
  const { tone, about } =
    first.type === 'condition' ? conditionWords(first, conditionsOf(entry), alone) : wordsOf(first, alone)
  const rest = keys.length - NAMED
  return {
    tone,
    what: mark(`${more ? 'At least ' : ''}${plural(keys.length, 'resource')}`),
    about: [
      ...(first.type === 'action'
        ? [actionWords(first).replace(/^was /, 'were ').replace(/^is /, 'are ')]
        : about),
      ': ',
      ...keys.slice(0, NAMED).flatMap((key) => [resourceLink(key), ' ']),
      rest > 0 ? `and ${rest} more` : '',
    ],
    message: '',
  }
}

/** @param {Exclude<TimelineEntry, ConditionEntry | AlikeEntry>} entry @param {How} how @returns {Words} */
function wordsOf(entry, how) {
  switch (entry.type) {
    case 'revision':
      return revisionWords(entry)
    case 'source':
      return {
        tone: entry.what === 'problem' ? 'bad' : 'calm',
        what: mark('Source'),
        about: [SOURCE_WORDS[entry.what]],
        message: entry.message,
      }
    case 'action':
      return {
        tone: entry.result === 'done' ? 'good' : entry.result === 'started' ? 'calm' : 'bad',
        what: nameOf(entry, how),
        about: [element('span', {}, actionWords(entry))],
        message: entry.message,
      }
  }
}

/** @satisfies {Record<string, string>} */
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
  const words = Object.hasOwn(DONE_WORDS, action)
    ? DONE_WORDS[/** @type {keyof typeof DONE_WORDS} */ (action)]
    : action
  if (result === 'failed') return `${action} failed`
  return result === 'unknown' ? `${action}: nobody knows what became of it` : words
}

/** @satisfies {Record<Extract<TimelineEntry, { type: 'source' }>['what'], string>} */
const SOURCE_WORDS = {
  problem: 'not accepted',
  recovered: 'accepted again',
  watch: '',
}

/** @param {string} text */
function mark(text) {
  return element('span', { class: 'kind' }, text)
}

/** @param {RevisionEntry} entry @returns {Words} */
function revisionWords(entry) {
  const isContent = 'from' in entry && entry.from === 'content'
  const what = element('span', {}, mark(isContent ? 'Revision' : 'Commit'), ' ', revisionLink(entry.revision))
  if ('earlier' in entry) {
    return { tone: 'commit', what, about: ['was read by an earlier process'], message: '' }
  }
  const { keys, changed, removed, errors, warnings } = entry
  const faults = [
    errors > 0 ? plural(errors, 'error') : '',
    warnings > 0 ? plural(warnings, 'warning') : '',
  ].filter((text) => text !== '')
  const rest = changed - keys.length
  const shown = changed <= 5 ? keys : []
  return {
    tone: errors > 0 ? 'bad commit' : 'commit',
    what,
    about: [
      `${changeWords(changed - removed, removed)}${shown.length > 0 ? ': ' : ''}`,
      ...shown.flatMap((key) => [resourceLink(key), ' ']),
      rest > 0 && shown.length > 0 ? `and ${rest} more` : '',
    ],
    message: faults.join(', '),
  }
}

/** @param {number} changed @param {number} removed */
function changeWords(changed, removed) {
  if (changed + removed === 0) return 'no manifest changed'
  if (changed === 0) return `${plural(removed, 'manifest')} removed`
  const rest = removed === 0 ? '' : `, ${removed} removed`
  return `${plural(changed, 'manifest')} new or changed${rest}`
}
