import { LOCK } from '../../kinds/lock/schema.ts'
import { isLockFileName, LOCK_EMPTY } from './outline.ts'
import { isUtf8 } from 'node:buffer'
import type { Finding, Statement } from '../../kinds/finding.ts'
import { errorStatement, findingAt, findingOfFile } from '../diagnostics/diagnostic.ts'
import { findTooMany, tooComplex, tooManyDocuments } from '../yaml/limits.ts'
import { parseChunk, type ParseOptions } from './parse-document.ts'
import type { ParsedDocument } from './parsed-document.ts'
import { createSourceText, type SourceText } from '../diagnostics/source-text.ts'
import { splitDocuments } from '../yaml/parse-yaml.ts'
import { UNRESOLVED } from '../yaml/text-findings.ts'

export interface ParsedFile {
  readonly file: string
  readonly hash: string
  readonly documents: readonly ParsedDocument[]
  readonly findings: readonly Finding[]
  /** False if part of the content is not understood. A missing key might be in that part. */
  readonly whole: boolean
}

export interface FileContent {
  readonly file: string
  readonly hash: string
  readonly bytes: Buffer
}

/** Parses a file, one document per step. Never throws, because each failure becomes a finding. */
export function* parseSteps(content: FileContent, options: ParseOptions): Generator<void, ParsedFile> {
  const { limits } = options
  const { file, hash, bytes } = content
  if (isEncrypted(bytes)) return unreadable(content, findingOfFile(file, UNRESOLVED))
  if (!isUtf8(bytes)) {
    const before = bytes.toString('utf8').split('\ufffd', 1)[0] ?? ''
    return unreadable(content, blindFinding(createSourceText(file, before), before.length, NOT_UTF8))
  }
  const text = textIn(bytes)
  const source = createSourceText(file, text)
  const nul = text.indexOf('\0')
  if (nul >= 0) return unreadable(content, findingAt(source.place(nul, nul + 1), NUL_BYTE))
  const tooMuch = findTooMany(text, limits.marks)
  if (tooMuch !== undefined)
    return unreadable(content, blindFinding(source, tooMuch, tooComplex('file', limits.marks)))
  const chunks = splitDocuments(text)
  const allowed = Math.min(limits.findingsOfFile, options.room.left)
  const how = { ...options, room: { left: allowed } }
  const documents: ParsedDocument[] = []
  for (const chunk of chunks.slice(0, limits.documents)) {
    documents.push(...parseChunk(source, chunk, how))
    yield
  }
  options.room.left -= allowed - Math.max(0, how.room.left)
  if (documents.length === 0 && isLockFileName(file))
    return unreadable(content, findingAt(source.place(0, 1), LOCK_EMPTY))
  const beyond = chunks[limits.documents]
  const findings =
    beyond === undefined
      ? []
      : [findingAt(source.place(beyond.start, beyond.start + 3), tooManyDocuments(limits))]
  const whole = beyond === undefined && documents.every(isAccountedFor)
  return { file, hash, documents, findings, whole }
}

/** Files of git-crypt, Ansible Vault, age, PGP, and pointers of Git LFS and git-annex. */
const ENCRYPTED =
  /^(?:\0GITCRYPT\0|\$ANSIBLE_VAULT;|age-encryption\.org\/|-----BEGIN (?:AGE|PGP) |version https:\/\/(?:git-lfs|hawser)\.github\.com\/|\/annex\/objects\/)/

export function isEncrypted(bytes: Buffer): boolean {
  return ENCRYPTED.test(bytes.toString('latin1', 0, 64))
}

/** Byte order marks next to `---` or `...`. */
const INNER_MARKS = /^\ufeff(?=---)|(?<=^\ufeff?(?:---|\.\.\.)[^\n]*\n)\ufeff/gm

export function textIn(bytes: Buffer): string {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  return text.includes('\ufeff') ? text.replaceAll(INNER_MARKS, '') : text
}

function isAccountedFor({ readable, key, kind, name }: ParsedDocument): boolean {
  return readable && (key !== undefined || (kind === LOCK.name && name !== undefined))
}

function unreadable({ file, hash }: FileContent, finding: Finding): ParsedFile {
  return { file, hash, documents: [], findings: [finding], whole: false }
}

const NUL_BYTE = errorStatement(
  'nul-byte',
  'The file holds a NUL byte.',
  'Remove the NUL byte, and save the file as UTF-8 text.',
)

const NOT_UTF8 = errorStatement('not-utf8', 'The file is not UTF-8 text.', 'Save it as UTF-8.')

/** A finding without the text of its line, because the line is large or has an unknown encoding. */
function blindFinding(source: SourceText, offset: number, statement: Statement): Finding {
  const { line, column } = source.position(offset)
  return findingAt({ file: source.file, line, column, endColumn: column + 1, lineText: '' }, statement)
}
