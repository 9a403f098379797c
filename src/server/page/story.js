import { badge, byId, element, foreign, revisionOf, toneOf, word } from './elements.js'
import { ago } from './time.js'
import { resourceLink } from './trouble.js'

/** Entries that one step shows. */
export const STORY_STEP = 20

/** What changed, newest first. */
export function showStory({ items, more }) {
  byId('story-empty').hidden = items.length > 0
  byId('entries').replaceChildren(...storyItems(items, { keys: true }))
  byId('story-more').hidden = !more
}

/**
 * The lines of the story, each with when, what, what became of it, and from which commit. Conditions of one resource that
 * changed in one moment are one line.
 * @param {{ keys: boolean }} how whether the resource is named; not on its own page
 */
export function storyItems(entries, how) {
  const groups = []
  for (const entry of entries) {
    const group = groups.at(-1)
    if (group !== undefined && belongs(entry, group[0])) group.push(entry)
    else groups.push([entry])
  }
  return groups.map((group) => storyItem(group, how))
}

function belongs(entry, first) {
  const both = entry.type === 'condition' && first.type === 'condition'
  return both && entry.key === first.key && entry.at === first.at && entry.revision === first.revision
}

function storyItem(group, how) {
  const [entry] = group
  const { tone, what, about, message } =
    entry.type === 'condition' ? conditionWords(group, how) : wordsOf(entry, how)
  return element(
    'li',
    { class: `entry ${entry.type} ${tone}` },
    element('span', { class: 'when' }, ago(entry.at)),
    element(
      'div',
      {},
      element('p', { class: 'entry-title' }, what, ' ', ...about),
      message === '' ? undefined : element('p', { class: 'entry-message' }, foreign(message)),
    ),
    element('span', { class: 'where' }, ...originOf(entry, how)),
  )
}

const WORST_FIRST = ['False', 'Unknown', 'True']

/** The worst of them gives tone and message. */
function conditionWords(group, how) {
  const sorted = group.toSorted((a, b) => WORST_FIRST.indexOf(a.status) - WORST_FIRST.indexOf(b.status))
  const [{ status, message }] = sorted
  return {
    tone: status === 'False' ? 'bad' : toneOf(status),
    what: nameOf(group[0], how),
    about: group
      .toReversed()
      .map((entry) =>
        element(
          'span',
          { class: 'one-condition' },
          `${entry.condition} `,
          stateBadge(entry),
          ' ',
          word(entry.reason),
        ),
      ),
    message,
  }
}

function stateBadge({ status }) {
  return status === 'False' ? element('span', { class: 'badge bad' }, status) : badge(status)
}

function nameOf({ key }, { keys }) {
  return keys ? resourceLink(key) : undefined
}

/** Whoever asks the platform about a request opens the resource, which says its id in full. */
function originOf({ type, revision, requestId }, { keys }) {
  return [
    type === 'revision' ? undefined : revisionOf(revision),
    requestId === undefined
      ? undefined
      : element(
          'span',
          { title: `request ${requestId}` },
          ` request ${keys ? `${requestId.slice(0, 8)}…` : requestId}`,
        ),
  ].filter((one) => one !== undefined)
}

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
    case 'brake':
      return {
        tone: entry.on ? 'bad' : 'good',
        what: mark('Brake'),
        about: [entry.on ? 'on' : 'off'],
        message: entry.message,
      }
    default:
      return {
        tone: entry.result === 'done' ? 'good' : entry.result === 'started' ? 'calm' : 'bad',
        what: nameOf(entry, how),
        about: [element('b', {}, `${entry.action}: ${entry.result}`), ' ', word(entry.reason)],
        message: entry.message,
      }
  }
}

const SOURCE_WORDS = {
  problem: 'cannot be relied on',
  recovered: 'can be relied on again',
  watch: 'is watched',
}

function mark(text) {
  return element('span', { class: 'kind' }, text)
}

function revisionWords({ revision, from, keys, changed, errors, warnings, earlier }) {
  const what = element(
    'span',
    {},
    mark(from === 'content' ? 'Revision' : 'Commit'),
    ' ',
    revisionOf(revision),
  )
  if (earlier === true) {
    return { tone: 'commit', what, about: ['was read by an earlier process'], message: '' }
  }
  const faults = [errors > 0 ? `${errors} errors` : '', warnings > 0 ? `${warnings} warnings` : ''].filter(
    (text) => text !== '',
  )
  const rest = changed - keys.length
  const shown = changed <= 5 ? keys : []
  return {
    tone: errors > 0 ? 'bad commit' : 'commit',
    what,
    about: [
      `${changed} ${changed === 1 ? 'manifest is' : 'manifests are'} new or changed${shown.length > 0 ? ': ' : ''}`,
      ...shown.flatMap((key) => [resourceLink(key), ' ']),
      rest > 0 && shown.length > 0 ? `and ${rest} more` : '',
    ],
    message: faults.join(', '),
  }
}
