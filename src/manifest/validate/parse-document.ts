import { isScalar, type Document } from 'yaml'
import type { Severity } from '../../kinds/finding.ts'
import { isResource, type Manifest } from '../../kinds/lookup.ts'
import { rulesOf, schemaOf, textFormAt, type Profile } from '../../kinds/profile.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { isObject } from '../../lib/json.ts'
import type { z } from 'zod'
import { identityOf, readLocks, LOCK_ELSEWHERE, isLockFileName, outlineFinding, statedIn } from './outline.ts'
import {
  byPosition,
  findingAt,
  type Path,
  type Statement,
  type ShapeFinding,
} from '../diagnostics/diagnostic.ts'
import {
  findTooMany,
  notSeparated,
  TOO_MANY_FINDINGS,
  tooComplex,
  tooDeep,
  type Limits,
} from '../yaml/limits.ts'
import { convert } from '../yaml/to-value.ts'
import { rangeOfField, rangeOfPath, type Range } from '../yaml/node-range.ts'
import { issuePathOf, valueAt } from './shape.ts'
import { shapeFindings } from './shape-findings.ts'
import type { SourceText } from '../diagnostics/source-text.ts'
import { type Chunk, MOST_IN_CHUNK, yamlDocuments } from '../yaml/parse-yaml.ts'
import {
  aliasFindings,
  documentFindings,
  versionFinding,
  yamlFinding,
  type YamlFinding,
} from '../yaml/syntax-findings.ts'
import { causeOfBrokenText, octalFindings, textFindings, UNRESOLVED } from '../yaml/text-findings.ts'
import { contentDigest, NO_LOCKS, startOf, unreadable, type ParsedDocument } from './parsed-document.ts'

export interface ParseOptions {
  readonly profile: Profile
  readonly limits: Limits
  /** Shared by all files of one reading. */
  readonly room: FindingRoom
}

/** Findings that can still be worded. Beyond it, a document reports only that it has errors. */
export interface FindingRoom {
  left: number
}

const MAX_FINDINGS_OF_READING = 5_000

export function createFindingRoom(): FindingRoom {
  return { left: MAX_FINDINGS_OF_READING }
}

/** A part has several documents only if its text is broken. */
export function parseChunk(
  source: SourceText,
  chunk: Chunk,
  options: ParseOptions,
): readonly ParsedDocument[] {
  const { limits, room } = options
  const text = source.text.slice(chunk.start, chunk.end)
  const refuse = (statement: Statement, start: number) => [
    unreadable(source, chunk, [{ statement, range: { start, end: start + 1 } }]),
  ]
  const much = findTooMany(text, limits.documentMarks)
  if (much !== undefined) return refuse(tooComplex('document', limits.documentMarks), much)
  const { documents, findings, tooDeep: deep } = yamlDocuments(text, limits.depth)
  if (deep !== undefined) return refuse(tooDeep(limits), deep)
  if (findings.length > 0) return [unreadable(source, chunk, findings.map(yamlFinding))]
  if (documents.length > MOST_IN_CHUNK) return refuse(notSeparated(MOST_IN_CHUNK), 0)
  return documents
    .filter((document) => !isEmpty(document))
    .map((document) => {
      const most = Math.max(0, Math.min(limits.findings, room.left))
      const parsed = parseDocument({ ...options, source, chunk, text, document, most })
      room.left -= parsed.findings.length
      return parsed
    })
}

interface Input extends ParseOptions {
  readonly source: SourceText
  readonly chunk: Chunk
  readonly text: string
  readonly document: Document.Parsed
  readonly most: number
}

/** Excludes a `*` inside a word, as in a URL with wildcards. */
const MAY_BE_ALIAS = /(?:^|[\s,:?[\]{}-])\*/

function parseDocument(input: Input): ParsedDocument {
  const { source, chunk, text, document, limits, most } = input
  const said = [...documentFindings(document, text, limits.findings)]
  const version = versionFinding(document, text)
  if (version !== undefined && !said.some((finding) => finding.statement.code === 'yaml-version'))
    said.push(version)
  if (MAY_BE_ALIAS.test(text)) said.push(...aliasFindings(document, limits))
  if (said.some(isError)) {
    return unreadable(source, chunk, causeOfBrokenText(said, text), document, most)
  }
  const { value, findings: more } = convert(document, limits)
  if (more.length > 0) return unreadable(source, chunk, [...said, ...more], document, most)
  return checked(input, value, said)
}

function checked(input: Input, value: unknown, said: readonly YamlFinding[]): ParsedDocument {
  const { source, chunk, document, profile, most } = input
  const identity = identityOf(value)
  const { kind } = identity
  const isSops = isObject(value) && isObject(value['sops'])
  const texts = isSops
    ? ENCRYPTED
    : textFindings(value, (path) => textFormAt(profile, kind ?? '', path), most)
  // An odd text causes any other finding on it.
  const odd = texts.filter(isError).map(({ path }) => path)
  const isOdd = new Set(odd.map((path) => JSON.stringify(path)))
  const reports: { readonly rangeIn: RangeIn; readonly statement: Statement }[] = []
  const report: Report = ({ at, path, statement }) => {
    if (isOdd.size > 0 && isOdd.has(JSON.stringify(path))) return
    reports.push({
      rangeIn: (tree) => (at === 'value' ? rangeOfPath(tree, path) : rangeOfField(tree, path)),
      statement,
    })
  }
  const outline = isSops ? undefined : outlineFinding(value)
  if (outline !== undefined) report(outline)
  if (kind === LOCK.name && !isLockFileName(source.file))
    report({ at: 'value', path: ['kind'], statement: LOCK_ELSEWHERE })
  const accepted =
    outline === undefined && !isSops ? validate(value, kind, { report, odd, ...input }) : undefined
  isOdd.clear()
  for (const finding of texts) report(finding)
  const readable = reports.some(isError) ? said : [...said, ...octalFindings(document, input.text)]
  for (const { statement, range } of readable) reports.push({ rangeIn: () => range, statement })
  const isWrong = reports.some(isError)
  const manifest = accepted === undefined || isWrong ? undefined : copyOf(accepted)
  const severity: Severity = isWrong ? 'error' : 'warning'
  // A hostile document can have very many findings: only shown ones are placed.
  const findings = reports.slice(0, most + 1).map(({ rangeIn, statement }, index) => {
    const { start, end } = rangeIn(document)
    const shown = index < most ? statement : { ...TOO_MANY_FINDINGS, severity }
    return findingAt(source.place(chunk.start + start, chunk.start + end), shown, identity)
  })
  const rest = manifest === undefined && isResource(accepted) ? copyOf(accepted) : undefined
  return {
    ...(manifest === undefined ? identity : identityOf(manifest)),
    position: startOf(source, chunk, document),
    manifest,
    meaning: manifest && contentDigest(manifest),
    rest: isResource(rest) ? rest : undefined,
    stated: manifest === undefined ? statedIn(value) : undefined,
    findings: findings.toSorted(byPosition),
    locks: identity.kind === LOCK.name ? readLocks(value) : NO_LOCKS,
    readable: true,
    chunk,
    start: document.range[0],
  }
}

/** The parser's strings are slices that keep the whole text in memory. Objects of JSON are a third smaller. */
function copyOf(manifest: Manifest): Manifest {
  return JSON.parse(JSON.stringify(manifest)) as Manifest // a JSON copy has the same type
}

function isError({ statement }: { readonly statement: Statement }): boolean {
  return statement.severity === 'error'
}

/** SOPS adds this field to each encrypted document. */
const ENCRYPTED: readonly ShapeFinding[] = [{ at: 'field', path: ['sops'], statement: UNRESOLVED }]

type RangeIn = (document: Document) => Range

type Report = (finding: ShapeFinding) => void

/** Skips rules that only the wrong fields might break. */
function validate(
  value: unknown,
  kind: string | undefined,
  {
    report,
    odd,
    profile,
    most,
  }: Pick<Input, 'profile' | 'most'> & {
    readonly report: Report
    readonly odd: readonly Path[]
  },
): Manifest | undefined {
  const schema = kind === undefined ? undefined : schemaOf(profile, kind)
  if (schema === undefined) return undefined
  const result = schema.safeParse(value)
  if (result.success && odd.length === 0) {
    for (const { path, ...statement } of isResource(result.data) ? rulesOf(profile, result.data) : [])
      report({ at: 'value', path, statement })
    return result.data
  }
  const issues = result.error?.issues ?? []
  const shape = shapeFindings(issues, { profile, schema, input: value, most })
  for (const finding of shape) report(finding)
  const wrong = [...issues.flatMap(pathsOf), ...odd]
  const rest = schema.safeParse(withoutFields(value, wrong)).data
  if (!isResource(rest)) return undefined
  // A removed field might be the only cause of a broken rule beside it.
  const isTouched = (path: Path) =>
    wrong.some((field) => field.slice(0, -1).every((step, index) => path[index] === step))
  for (const { path, ...statement } of rulesOf(profile, rest))
    if (!isTouched(path)) report({ at: 'value', path, statement })
  return rest
}

function pathsOf(issue: z.core.$ZodIssue): readonly Path[] {
  const path = issuePathOf(issue)
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path]
}

/** To find further mistakes. Undefined if a wrong value is no field of a mapping. */
function withoutFields(input: unknown, wrong: readonly Path[]): unknown {
  const copy = structuredClone(input)
  for (const path of wrong) {
    const parent = valueAt(copy, path.slice(0, -1))
    if (path.length === 0 || !isObject(parent)) return undefined
    Reflect.deleteProperty(parent, String(path.at(-1)))
  }
  return copy
}

function isEmpty(document: Document.Parsed): boolean {
  if (document.errors.length > 0 || document.warnings.length > 0) return false
  const { contents } = document
  return (
    contents === null ||
    (isScalar(contents) && contents.value === null && contents.range[0] === contents.range[1])
  )
}
