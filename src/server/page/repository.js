import { code, element, foreign, place, shortRevision } from './elements.js'

/** A full name of a commit, alone or before what says that there are edits on top of it. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?(?=$|[^0-9a-f])/

/** How the sites that host Git write the address of a file, and of its commit. @type {readonly (readonly [RegExp, string])[]} */
const COMMIT_ADDRESSES = [
  [/\/blob\/\{revision\}.*$/s, '/commit/{revision}'],
  [/\/src\/commit\/\{revision\}.*$/s, '/commit/{revision}'],
  [/\/src\/\{revision\}.*$/s, '/commits/{revision}'],
]

/** Where a manifest is seen in a browser, with `{revision}`, `{file}` and `{line}`. @type {string | undefined} */
let template
/** The commit in force. @type {string | undefined} */
let inForce

/** @param {{ repositoryUrl?: string | undefined, revision?: { id: string } | undefined }} overview */
export function setRepository({ repositoryUrl, revision }) {
  template = repositoryUrl
  inForce = revision?.id
}

/** How they write a line of a file, where the template does not. @type {readonly (readonly [RegExp, string])[]} */
const LINE_ANCHORS = [
  [/\/(?:blob|src\/commit)\/[^#?]*\{file\}$/s, '#L{line}'],
  [/\/src\/\{revision\}\/[^#?]*\{file\}$/s, '#lines-{line}'],
]

/**
 * A file and a line; a link where the repository's address is known.
 * @param {string} file @param {number | undefined} line @param {number} [column]
 */
export function placeLink(file, line, column) {
  const text = code(column === undefined ? place(file, line) : `${place(file, line)}:${column}`)
  const address = fileAddress(file, line)
  return address === undefined ? text : outside(address, text)
}

/** A revision with the whole of it in the tip, and a link to the commit; nothing when there is none. @param {string | undefined} revision */
export function revisionLink(revision) {
  if (revision === undefined || revision === '') return undefined
  const text = element('code', { class: 'revision', title: revision }, foreign(shortRevision(revision)))
  const address = commitAddress(revision)
  return address === undefined ? text : outside(address, text)
}

/** What a revision is: without Git, the content of the directory has a name of its own. @param {string} revision */
export function revisionWord(revision) {
  return commitIn(revision) === undefined ? 'revision' : 'commit'
}

/** @param {string} address @param {Node} text */
function outside(address, text) {
  return element('a', { href: address, rel: 'noopener noreferrer', target: '_blank' }, text)
}

/** @param {string} file @param {number | undefined} line */
function fileAddress(file, line) {
  const commit = commitIn(inForce)
  if (template === undefined || (commit === undefined && template.includes('{revision}'))) return undefined
  const whole = template
  const anchor =
    line === undefined || whole.includes('{line}')
      ? undefined
      : LINE_ANCHORS.find(([known]) => known.test(whole))
  return filled(whole + (anchor?.[1] ?? ''), {
    revision: commit ?? '',
    file: file.split('/').map(encodeURIComponent).join('/'),
    line: String(line ?? 1),
  })
}

/** @param {string} revision */
function commitAddress(revision) {
  const commit = commitIn(revision)
  const whole = template
  if (whole === undefined || commit === undefined) return undefined
  const [form, ending] = COMMIT_ADDRESSES.find(([known]) => known.test(whole)) ?? []
  return form === undefined || ending === undefined
    ? undefined
    : filled(whole.replace(form, ending), { revision: commit })
}

/** @param {string | undefined} revision */
function commitIn(revision) {
  return COMMIT.exec(revision ?? '')?.[0]
}

/** @param {string} text @param {Readonly<Record<string, string>>} values */
function filled(text, values) {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole)
}
