import { addressOf } from './address-bar.js'
import { code, foreign, h, place, shortRevision } from './markup.js'

/** @import { Shown } from './markup.js' */

/** A full commit id, alone or before a suffix for local edits. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?(?=$|[^0-9a-f])/

/** Address of a file, and of a commit, for each Git host. @type {readonly (readonly [RegExp, string])[]} */
const COMMIT_ADDRESSES = [
  [/\/blob\/\{revision\}.*$/s, '/commit/{revision}'],
  [/\/src\/commit\/\{revision\}.*$/s, '/commit/{revision}'],
  [/\/src\/\{revision\}.*$/s, '/commits/{revision}'],
]

/** Address of a manifest: `{revision}`, `{file}`, `{line}`. @type {string | undefined} */
let template
/** The revision that the daemon uses now. @type {string | undefined} */
let inForce

/** @param {{ repositoryUrl?: string | undefined, revision?: { id: string } | undefined }} overview */
export function setRepository({ repositoryUrl, revision }) {
  template = repositoryUrl
  inForce = revision?.id
}

/** Line anchors of Git hosts, if the template has no `{line}`. @type {readonly (readonly [RegExp, string])[]} */
const LINE_ANCHORS = [
  [/\/(?:blob|src\/commit)\/[^#?]*\{file\}$/s, '#L{line}'],
  [/\/src\/\{revision\}\/[^#?]*\{file\}$/s, '#lines-{line}'],
]

/** @param {string} file @param {number | undefined} line @param {number} [column] */
export function placeLink(file, line, column) {
  const text = place(file, line)
  return outside(fileAddress(file, line), code(column === undefined ? text : `${text}:${column}`))
}

/** @param {string | undefined} revision */
export function revisionLink(revision) {
  if (revision === undefined || revision === '') return undefined
  const text = h`<code class="revision" title=${revision}>${foreign(shortRevision(revision))}</code>`
  return outside(commitAddress(revision), text)
}

/** Without Git, a revision is a content digest. @param {string} revision */
export function revisionWord(revision) {
  return commitIn(revision) === undefined ? 'revision' : 'commit'
}

/** @param {string} key @param {string} [text] @param {string} [id] */
export function resourceLink(key, text = key, id) {
  const address = addressOf({ resource: key })
  return h`<a id=${id} class="key" href=${address} data-inside data-resource=${key}>${foreign(text)}</a>`
}

/** @param {readonly string[]} keys */
export function keyLinks(keys) {
  return keys.map((key) => [resourceLink(key), ' '])
}

/** @param {string} service */
export function serviceLink(service) {
  return resourceLink(`Service/${service}`, service)
}

/** @param {string | undefined} address undefined: no link @param {Shown} text */
function outside(address, text) {
  return address === undefined
    ? text
    : h`<a href=${address} rel="noopener noreferrer" target="_blank">${text}</a>`
}

/** @param {string} file @param {number | undefined} line */
function fileAddress(file, line) {
  const commit = commitIn(inForce)
  const whole = template
  if (whole === undefined || (commit === undefined && whole.includes('{revision}'))) return undefined
  const hasAnchor = line !== undefined && !whole.includes('{line}')
  const anchor = hasAnchor && LINE_ANCHORS.find(([known]) => known.test(whole))
  return filled(whole + (anchor ? anchor[1] : ''), {
    revision: commit ?? '',
    file: file.split('/').map(encodeURIComponent).join('/'),
    line: String(line ?? 1),
  })
}

/** @param {string} revision */
function commitAddress(revision) {
  const commit = commitIn(revision)
  const whole = template ?? ''
  const form = COMMIT_ADDRESSES.find(([known]) => known.test(whole))
  return form && commit && filled(whole.replace(...form), { revision: commit })
}

/** @param {string | undefined} revision */
function commitIn(revision) {
  return COMMIT.exec(revision ?? '')?.[0]
}

/** @param {string} text @param {Readonly<Record<string, string>>} values */
function filled(text, values) {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}
