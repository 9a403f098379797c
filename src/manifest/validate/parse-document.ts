import { isScalar, type Document } from 'yaml'
import type { Finding } from '../../kinds/finding.ts'
import { isResource, type Manifest } from '../../kinds/lookup.ts'
import { rulesOf, schemaOf } from '../../kinds/profile.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import {
  NOBODY,
  identityOf,
  identityOfNodes,
  readLocks,
  type Identity,
  LOCK_ELSEWHERE,
  isLockFileName,
  outlineFinding,
} from './outline.ts'
import { byPosition, findingAt, type Statement } from '../diagnostics/diagnostic.ts'
import { findTooDeep, findTooMany } from '../yaml/limits.ts'
import { convert } from '../yaml/to-value.ts'
import { rangeOfField, rangeOfPath, type Range } from '../yaml/node-range.ts'
import { provisionalOf } from './provisional.ts'
import { shapeFindings } from './shape-findings.ts'
import { statedIn } from './stated.ts'
import type { SourceText } from '../diagnostics/source-text.ts'
import { type Chunk, MOST_IN_CHUNK, yamlDocuments } from '../yaml/parse-yaml.ts'
import {
  aliasFindings,
  documentFindings,
  versionFinding,
  withoutEchoes,
  yamlFinding,
  type YamlFinding,
} from '../yaml/syntax-findings.ts'
import { textFindings } from '../yaml/text-findings.ts'
import { contentDigest } from './content-digest.ts'
import { createCap } from './cap.ts'
import { documentTooComplex, notSeparated, tooDeep, tooManyOfFile } from './limit-statements.ts'
import type { ParsedDocument } from './parsed-document.ts'
import { NO_LOCKS, startOf, unreadable } from './unreadable-document.ts'
import { causeOfBrokenText, withTexts } from './odd-texts.ts'
import type { ParseOptions } from './parse-options.ts'

/** The documents of one part of a file; more than one only where the text is broken. */
export function parseChunk(
  source: SourceText,
  chunk: Chunk,
  options: ParseOptions,
): readonly ParsedDocument[] {
  const { limits, room } = options
  const text = source.text.slice(chunk.start, chunk.end)
  const much = findTooMany(text, limits.documentMarks)
  if (much !== undefined) {
    const range = { start: much, end: much + 1 }
    return [unreadable(source, chunk, [{ statement: documentTooComplex(limits), range }], NOBODY)]
  }
  const deep = findTooDeep(text, limits.depth)
  if (deep !== undefined) {
    return [
      unreadable(
        source,
        chunk,
        [{ statement: tooDeep(limits), range: { start: deep, end: deep + 1 } }],
        NOBODY,
      ),
    ]
  }
  const { documents, findings } = yamlDocuments(text)
  if (findings.length > 0) return [unreadable(source, chunk, findings.map(yamlFinding), NOBODY)]
  if (documents.length > MOST_IN_CHUNK) {
    const statement = notSeparated(MOST_IN_CHUNK)
    return [unreadable(source, chunk, [{ statement, range: { start: 0, end: 1 } }], NOBODY)]
  }
  return documents
    .filter((document) => !isEmpty(document))
    .map((document) => {
      const parsed = parseDocument({ ...options, source, chunk, text, document, isBrief: room.left <= 0 })
      room.left -= parsed.findings.length
      return parsed
    })
}

interface Input extends ParseOptions {
  readonly source: SourceText
  readonly chunk: Chunk
  readonly text: string
  readonly document: Document.Parsed
  /** Of its errors no more is said than that there are some. */
  readonly isBrief: boolean
}

/** Where an alias could stand; a `*` inside a word, as in a URL with wildcards, is none. */
const MAY_BE_ALIAS = /(?:^|[\s,:?[\]{}-])\*/

function parseDocument(input: Input): ParsedDocument {
  const { source, chunk, text, document, limits } = input
  const unplaced = [...documentFindings(document, text, limits.findings)]
  const version = versionFinding(document, text)
  if (version !== undefined && !unplaced.some((finding) => finding.statement.code === 'yaml-version'))
    unplaced.push(version)
  if (MAY_BE_ALIAS.test(text)) unplaced.push(...aliasFindings(document, limits))
  const broken = unplaced.some((finding) => finding.statement.severity === 'error')
  if (broken) {
    if (input.isBrief) return unreadableBriefly(input)
    const said = causeOfBrokenText(withoutEchoes(unplaced, text), text)
    return unreadable(source, chunk, said, identityOfNodes(document), document)
  }
  if (!input.isBrief) unplaced.push(...textFindings(document, text, limits))
  const { value, findings: more } = convert(document, limits)
  if (more.length > 0) {
    if (input.isBrief) return unreadableBriefly(input)
    return unreadable(source, chunk, [...unplaced, ...more], identityOfNodes(document), document)
  }
  return checked({ ...input, unplaced, value })
}

function unreadableBriefly(input: Input): ParsedDocument {
  const { source, chunk, document } = input
  const identity = identityOfNodes(document)
  return { ...unreadable(source, chunk, [], identity, document), findings: [briefFinding(input, identity)] }
}

/** It stands where the document begins, and shows no line. */
function briefFinding({ source, chunk, document, limits }: Input, { key }: Identity): Finding {
  const position = startOf(source, chunk, document)
  const place = { ...position, endColumn: position.column + 1, lineText: '' }
  return findingAt(place, tooManyOfFile(limits), { key })
}

/** A document that is YAML: is it a manifest? */
function checked(
  input: Input & { readonly unplaced: readonly YamlFinding[]; readonly value: unknown },
): ParsedDocument {
  const { source, chunk, document, limits, value } = input
  const identity = identityOf(value)
  const place = (range: Range) => source.place(chunk.start + range.start, chunk.start + range.end)
  const cap = createCap(limits)
  const texts = (input.isBrief ? [] : input.unplaced).flatMap(({ statement, range }) => {
    const said = cap.said(statement)
    return said === undefined ? [] : [findingAt(place(range), said, identity)]
  })
  const findings: Finding[] = []
  let failed = false
  const report: Report = (rangeIn, statement) => {
    failed ||= statement.severity === 'error'
    if (input.isBrief) return
    const said = cap.said(statement)
    if (said !== undefined) findings.push(findingAt(place(rangeIn(document)), said, identity))
  }
  const outline = outlineFinding(value)
  if (outline !== undefined) report((tree) => rangeOfPath(tree, outline.path), outline.statement)
  if (identity.kind === LOCK.name && !isLockFileName(source.file))
    report((tree) => rangeOfPath(tree, ['kind']), LOCK_ELSEWHERE)
  const accepted = outline === undefined ? validate(value, identity.kind, { report, ...input }) : undefined
  const manifest = accepted === undefined || failed ? undefined : copyOf(accepted)
  if (input.isBrief && failed) findings.push(briefFinding(input, identity))
  const rest = manifest === undefined && isResource(accepted) ? copyOf(accepted) : undefined
  return {
    ...(manifest === undefined ? identity : identityOf(manifest)),
    position: startOf(source, chunk, document),
    manifest,
    meaning: manifest && contentDigest(manifest),
    rest: isResource(rest) ? rest : undefined,
    stated: manifest === undefined ? statedIn(value) : undefined,
    findings: withTexts(texts, findings).toSorted(byPosition),
    locks: identity.kind === LOCK.name ? readLocks(value) : NO_LOCKS,
    readable: true,
    chunk,
    start: document.range[0],
  }
}

/**
 * A copy: what the parser takes out of a text are slices, each of which keeps all of it. By way of JSON, which a valid manifest
 * is: objects made so are a third smaller than others.
 */
function copyOf(manifest: Manifest): Manifest {
  return JSON.parse(JSON.stringify(manifest)) as Manifest // what it was
}

function rangeOfNothing(): Range {
  return { start: 0, end: 1 }
}

type Report = (rangeIn: (document: Document) => Range, statement: Statement) => void

/** Shape and the rules of the kind in one round, but for rules that the wrong fields alone may break. */
function validate(
  value: unknown,
  kind: string | undefined,
  {
    report,
    profile,
    limits,
    isBrief,
  }: { readonly report: Report } & Pick<Input, 'profile' | 'limits' | 'isBrief'>,
): Manifest | undefined {
  const schema = kind === undefined ? undefined : schemaOf(profile, kind)
  if (schema === undefined) return undefined
  const result = schema.safeParse(value)
  if (result.success) {
    for (const { path, ...statement } of isResource(result.data) ? rulesOf(profile, result.data) : [])
      report((tree) => rangeOfPath(tree, path), statement)
    return result.data
  }
  if (isBrief) {
    report(rangeOfNothing, tooManyOfFile(limits))
    return undefined
  }
  const most = { all: limits.findings + 1, ofRule: limits.findingsOfRule + 1 }
  const shape = shapeFindings(result.error.issues, {
    profile,
    schema,
    input: value,
    most,
  })
  for (const { at, path, statement } of shape) {
    report((tree) => (at === 'value' ? rangeOfPath(tree, path) : rangeOfField(tree, path)), statement)
  }
  const provisional = provisionalOf(schema, value, result.error.issues)
  if (provisional === undefined || !isResource(provisional.value)) return undefined
  for (const { path, ...statement } of rulesOf(profile, provisional.value))
    if (!provisional.isTouched(path)) report((tree) => rangeOfPath(tree, path), statement)
  return provisional.value
}

function isEmpty(document: Document.Parsed): boolean {
  if (document.errors.length > 0 || document.warnings.length > 0) return false
  const { contents } = document
  return (
    contents === null ||
    (isScalar(contents) && contents.value === null && contents.range[0] === contents.range[1])
  )
}
