import { badge, byId, code, element, foreign, revisionOf, toneOf } from './elements.js'
import { ago } from './time.js'
import { resourceLink } from './trouble.js'

/** Entries that one step shows. */
export const STORY_STEP = 20

/** What changed, newest first. */
export function showStory({ items, more }) {
  byId('story-empty').hidden = items.length > 0
  byId('entries').replaceChildren(...items.map(storyItem))
  byId('story-more').hidden = !more
}

/** One line of the story: when, what, what became of it, from which commit. */
export function storyItem(entry) {
  const { tone, what, about, message } = wordsOf(entry)
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
    element('span', { class: 'where' }, ...originOf(entry)),
  )
}

function originOf({ type, revision, requestId }) {
  return [
    type === 'revision' ? undefined : revisionOf(revision),
    requestId === undefined ? undefined : element('span', { title: 'request id' }, ` request ${requestId}`),
  ].filter((one) => one !== undefined)
}

function wordsOf(entry) {
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
    case 'action':
      return {
        tone: entry.result === 'done' ? 'good' : entry.result === 'started' ? 'calm' : 'bad',
        what: resourceLink(entry.key),
        about: [element('b', {}, `${entry.action}: ${entry.result}`), ' ', code(entry.reason)],
        message: entry.message,
      }
    default:
      return {
        tone: entry.status === 'False' ? 'bad' : toneOf(entry.status),
        what: resourceLink(entry.key),
        about: [`${entry.condition} is `, badge(entry.status), ' ', code(entry.reason)],
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
