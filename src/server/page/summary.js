/**
 * @import { OverviewReply } from '../api/overview.ts'
 */

import { addressOf, readAddress } from './address-bar.js'
import { setActing } from './act.js'
import { byId, element, setText, toneOf, visible, worded } from './elements.js'
import { revisionLink, revisionWord, setRepository } from './repository.js'
import { ago, setServerTime } from './time.js'

/** @param {OverviewReply} overview */
export function showSummary(overview) {
  const { verdict, version, sandbox, counts } = overview
  setServerTime(overview.now)
  setRepository(overview)
  setActing(overview)
  showStanding(overview)
  setText('verdict', verdict.sentence)
  setText('version', version)
  byId('summary').className = verdict.level
  byId('sandbox').hidden = !sandbox
  byId('counts').replaceChildren(
    ...Object.entries(counts)
      .filter(([, count]) => count > 0)
      .map(([status, count]) => element('li', {}, countLink(status, count))),
  )
  showOfWhat(overview)
  showWithoutManifest(overview)
}

/** A standby hides the leader's data (page.css). @param {OverviewReply} overview */
function showStanding({ standsBy, leader, unconfirmed }) {
  byId('standing').hidden = !standsBy
  document.body.classList.toggle('stands-by', standsBy)
  const holder = visible(leader?.holder ?? 'nobody')
  byId('standing').replaceChildren(
    'This process is on standby, and ',
    ...(unconfirmed === undefined
      ? [leader?.url === undefined ? holder : element('a', { href: leader.url }, holder), ' acts.']
      : [visible(`what it shows may be out of date: ${unconfirmed}.`)]),
  )
}

/** One line per service. @param {OverviewReply} overview */
function showWithoutManifest({ withoutManifest = [] }) {
  const at = byId('without-manifest')
  at.hidden = withoutManifest.length === 0
  at.replaceChildren(
    ...withoutManifest.map(({ message, listedAt }) =>
      element('li', {}, `${message} Listed `, ago(listedAt), '.'),
    ),
  )
}

/** Filters the list. @param {string} status @param {number} count */
function countLink(status, count) {
  return element(
    'a',
    {
      id: `count-${status}`,
      class: `badge ${toneOf(status)}`,
      href: addressOf({ ...readAddress(), status, page: '' }),
      'data-inside': true,
    },
    `${count} ${worded(status)}`,
  )
}

/** The commit and its time. @param {OverviewReply} overview */
function showOfWhat({ revision, manifestsDir, lastLoadAt, sourceProblem, counts }) {
  const at = byId('of-what')
  if (revision === undefined || lastLoadAt === undefined) {
    at.replaceChildren(visible(`${manifestsDir} was not read yet`))
    return
  }
  // No read was accepted.
  if (sourceProblem !== undefined && Object.values(counts).every((count) => count === 0)) {
    at.replaceChildren(visible(`${manifestsDir}, last tried `), ago(lastLoadAt))
    return
  }
  at.replaceChildren(
    `${visible(manifestsDir)} at ${revisionWord(revision.id)} `,
    revisionLink(revision.id) ?? '',
    sourceProblem === undefined ? ', read ' : ', last tried ',
    ago(lastLoadAt),
  )
}
