import { LOCK } from '../../kinds/lock/schema.ts'
import { isLockFileName, LOCK_EMPTY } from './outline.ts'
import { isUtf8 } from 'node:buffer'
import type { Finding } from '../../kinds/finding.ts'
import { findingAt, findingOfFile } from '../diagnostics/diagnostic.ts'
import { findTooMany } from '../yaml/limits.ts'
import { tooComplex, tooManyDocuments } from './limit-statements.ts'
import { parseChunk } from './parse-document.ts'
import type { ParsedDocument } from './parsed-document.ts'
import type { ParseOptions } from './parse-options.ts'
import { createSourceText } from '../diagnostics/source-text.ts'
import { atOnce, inSlices, type Slices } from './slices.ts'
import { splitDocuments } from '../yaml/parse-yaml.ts'

/** What one file says. */
export interface ParsedFile {
  readonly file: string
  /** SHA-256 of its bytes. */
  readonly hash: string
  readonly documents: readonly ParsedDocument[]
  /** Findings about the file itself; those of a document are with it. */
  readonly findings: readonly Finding[]
  /** False when something that it says may have gone unseen: nothing may be called absent because of it. */
  readonly whole: boolean
}

/** The bytes of a file, and where it stands below the root. */
export interface FileContent {
  readonly file: string
  readonly hash: string
  readonly bytes: Buffer
}

/** Parses one file, YAML or JSON. Never throws: whatever is wrong is a finding. */
export function parseFile(content: FileContent, options: ParseOptions): ParsedFile {
  return atOnce(stepsOf(content, options))
}

/** The same in slices, between which others run. The bytes are looked at only before the first of them is over. */
export async function parseInSlices(
  content: FileContent,
  options: ParseOptions,
  slices: Slices,
): Promise<ParsedFile> {
  return inSlices(stepsOf(content, options), slices)
}

/** In steps of one document. */
function* stepsOf(content: FileContent, options: ParseOptions): Generator<void, ParsedFile> {
  const { limits } = options
  const { file, hash, bytes } = content
  if (!isUtf8(bytes)) return unreadable(content, notUtf8(content))
  const text = textIn(bytes)
  const source = createSourceText(file, text)
  const nul = text.indexOf('\0')
  if (nul >= 0)
    return unreadable(content, findingAt(source.place(nul, nul + 1), NUL_BYTE, { key: undefined }))
  const tooMuch = findTooMany(text, limits.marks)
  if (tooMuch !== undefined) {
    const { line, column } = source.position(tooMuch)
    const finding = findingOfFile(file, tooComplex(limits))
    return unreadable(content, { ...finding, line, column, endColumn: column + 1 })
  }
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
    return unreadable(content, findingAt(source.place(0, 1), LOCK_EMPTY, { key: undefined }))
  const beyond = chunks[limits.documents]
  const findings =
    beyond === undefined
      ? []
      : [
          findingAt(source.place(beyond.start, beyond.start + 3), tooManyDocuments(limits), {
            key: undefined,
          }),
        ]
  const whole = beyond === undefined && documents.every(isAccountedFor)
  return { file, hash, documents: freeOfText(documents), findings: structuredClone(findings), whole }
}

/** A manifest is a copy already; what else is taken out of a text are slices, each of which keeps all of it. */
function freeOfText(documents: readonly ParsedDocument[]): readonly ParsedDocument[] {
  // All in one: a copy costs more than what is copied, mostly.
  const copies = structuredClone(
    documents.map((document) => (isFree(document) ? undefined : withoutManifest(document))),
  )
  return documents.map((document, index) => ({ ...(copies[index] ?? document), manifest: document.manifest }))
}

function isFree({ manifest, findings, locks }: ParsedDocument): boolean {
  return manifest !== undefined && findings.length === 0 && locks.size === 0
}

function withoutManifest(document: ParsedDocument): ParsedDocument {
  return { ...document, manifest: undefined }
}

/** The text of a file, without the mark that some editors put before it. */
export function textIn(bytes: Buffer): string {
  const text = bytes.toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}

/** A document without errors, or one that says at least whom its errors are about. */
function isAccountedFor(document: ParsedDocument): boolean {
  if (!document.readable) return false
  return document.key !== undefined || (document.kind === LOCK.name && document.name !== undefined)
}

function unreadable({ file, hash }: FileContent, finding: Finding): ParsedFile {
  return { file, hash, documents: [], findings: [finding], whole: false }
}

const NUL_BYTE = {
  severity: 'error',
  code: 'nul-byte',
  message: 'The file holds a NUL byte.',
  hint: 'Remove it; save the file as UTF-8 text.',
} as const

/** Points at the first byte that does not fit; shows no text, since nobody knows what it is. */
function notUtf8(content: FileContent): Finding {
  const before = content.bytes.toString('utf8').split('\ufffd', 1)[0] ?? ''
  const source = createSourceText(content.file, before)
  const finding = findingOfFile(content.file, {
    severity: 'error',
    code: 'not-utf8',
    message: 'The file is not UTF-8 text.',
    hint: 'Save it as UTF-8.',
  })
  const { line, column } = source.position(before.length)
  return { ...finding, line, column, endColumn: column + 1 }
}
