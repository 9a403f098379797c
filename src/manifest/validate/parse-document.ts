import { isScalar, type Document } from 'yaml'
import type { z } from 'zod'
import type { FindingSeverity, Path, FieldFinding, Statement } from '../../kinds/finding.ts'
import { isResource, type Manifest } from '../../kinds/lookup.ts'
import { rulesOf, schemaOf, textFormAt, type Profile } from '../../kinds/profile.ts'
import { LOCK } from '../../kinds/lock/schema.ts'
import { isObject, valueAt } from '../../lib/json.ts'
import {
  manifestIdentity,
  readLocks,
  LOCK_ELSEWHERE,
  isLockFileName,
  outlineFinding,
  statedIn,
} from './outline.ts'
import { byPosition, findingAt } from '../diagnostics/diagnostic.ts'
import { findTooMany, notSeparated, TOO_MANY_FINDINGS, tooComplex, tooDeep } from '../yaml/limits.ts'
import type { Limits } from '../yaml/limits.ts'
import { convert, valueWithAliases } from '../yaml/to-value.ts'
import { rangeOf, type Range } from '../yaml/node-range.ts'
import { issuePathOf } from './shape.ts'
import { shapeFindings } from './shape-findings.ts'
import type { SourceText } from '../diagnostics/source-text.ts'
import { MOST_IN_CHUNK, yamlDocuments } from '../yaml/parse-yaml.ts'
import { documentFindings, explosionFinding, yamlFinding, type YamlFinding } from '../yaml/syntax-findings.ts'
import { causeOfBrokenText, textFindings, UNRESOLVED } from '../yaml/text-findings.ts'
import { contentDigest, NO_LOCKS, startOf, unreadable, type ParsedDocument } from './parsed-document.ts'

export interface ParseOptions {
  readonly profile: Profile
  readonly limits: Limits
  readonly room: FindingRoom
}

/** How many findings a reading can still have. At 0, a document reports only that it has findings. */
interface FindingRoom {
  left: number
}

const MAX_FINDINGS_OF_READING = 5_000

export function createFindingRoom(): FindingRoom {
  return { left: MAX_FINDINGS_OF_READING }
}

export function parseChunk(
  source: SourceText,
  chunk: Range,
  options: ParseOptions,
): readonly ParsedDocument[] {
  const { limits, room } = options
  const text = source.text.slice(chunk.start, chunk.end)
  const refuse = (statement: Statement, start: number) => [
    unreadable(source, chunk, [{ ...statement, range: { start, end: start + 1 } }]),
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
  readonly chunk: Range
  readonly text: string
  readonly document: Document.Parsed
  readonly most: number
}

function parseDocument(input: Input): ParsedDocument {
  const { source, chunk, text, document, limits, most } = input
  const { value, aliases, firstAlias, repeated, octals } = convert(document, limits)
  const said = [...documentFindings(document, text, limits.findings), ...aliases]
  const refuse = (findings: readonly YamlFinding[]) =>
    unreadable(source, chunk, findings, { document, value, most })
  if (said.some(isError)) return refuse(causeOfBrokenText(said, text))
  if (repeated.length > 0) return refuse([...said, ...repeated])
  if (firstAlias === undefined) return checked(input, value, { said, octals })
  const resolved = valueWithAliases(document, limits)
  if (resolved === undefined) return refuse([...said, explosionFinding(firstAlias, limits)])
  return checked(input, resolved.value, { said, octals })
}

function checked(
  input: Input,
  value: unknown,
  { said, octals }: { readonly said: readonly YamlFinding[]; readonly octals: readonly YamlFinding[] },
): ParsedDocument {
  const { source, chunk, document, profile, most } = input
  const identity = manifestIdentity(value)
  const { kind } = identity
  const isSops = isObject(value) && isObject(value['sops'])
  const texts = isSops ? [] : textFindings(value, (path) => textFormAt(profile, kind ?? '', path), most)
  // Drops other findings on a text with an odd character, because the character causes them.
  const odd = texts.filter(isError).map(({ path }) => path)
  const outline = isSops ? ENCRYPTED : outlineFinding(value)
  const isElsewhere = kind === LOCK.name && !isLockFileName(source.file)
  const { accepted, mistakes } =
    outline === undefined ? validate(value, kind, odd, input) : { accepted: undefined, mistakes: [outline] }
  const shape = (isElsewhere ? [LOCK_ELSEWHERE, ...mistakes] : mistakes).filter(isNotAt(odd))
  const reports = [...shape, ...texts, ...said]
  if (!reports.some(isError)) reports.push(...octals)
  const isWrong = reports.some(isError)
  const severity: FindingSeverity = isWrong ? 'error' : 'warning'
  // Only shown findings get a position, because a hostile document can have very many.
  const findings = reports.slice(0, most + 1).map((report, index) => {
    const { start, end } = 'range' in report ? report.range : rangeOf(document, report)
    const shown = index < most ? report : { ...TOO_MANY_FINDINGS, severity }
    return findingAt(source.place(chunk.start + start, chunk.start + end), shown, identity)
  })
  // A copy: the parser's strings are slices that keep the whole file in memory.
  const copy = accepted && (JSON.parse(JSON.stringify(accepted)) as Manifest)
  const manifest = isWrong ? undefined : copy
  return {
    ...(manifest === undefined ? identity : manifestIdentity(manifest)),
    position: startOf(source, chunk, document),
    manifest,
    digest: manifest && contentDigest(manifest),
    rest: isWrong && isResource(copy) ? copy : undefined,
    stated: manifest === undefined ? statedIn(value) : undefined,
    findings: findings.toSorted(byPosition),
    locks: kind === LOCK.name ? readLocks(value) : NO_LOCKS,
    readable: true,
    chunk,
    start: document.range[0],
  }
}

function isError({ severity }: Statement): boolean {
  return severity === 'error'
}

function isNotAt(paths: readonly Path[]): (finding: FieldFinding) => boolean {
  const texts = new Set(paths.map((path) => JSON.stringify(path)))
  return ({ path }) => texts.size === 0 || !texts.has(JSON.stringify(path))
}

/** SOPS adds this field to each encrypted document. */
const ENCRYPTED: FieldFinding = { ...UNRESOLVED, path: ['sops'], at: 'field' }

/** Checks schema and rules. If fields are wrong, the rules check the manifest without them. */
function validate(
  value: unknown,
  kind: string | undefined,
  odd: readonly Path[],
  { profile, most }: Pick<Input, 'profile' | 'most'>,
): { readonly accepted: Manifest | undefined; readonly mistakes: readonly FieldFinding[] } {
  const schema = kind === undefined ? undefined : schemaOf(profile, kind)
  if (schema === undefined) return { accepted: undefined, mistakes: [] }
  const result = schema.safeParse(value)
  if (result.success && odd.length === 0) {
    const { data } = result
    return { accepted: data, mistakes: isResource(data) ? rulesOf(profile, data) : [] }
  }
  const issues = result.error?.issues ?? []
  const mistakes = shapeFindings(issues, { profile, schema, input: value, most })
  const wrong = [...issues.flatMap(pathsOf), ...odd]
  const rest = schema.safeParse(withoutFields(value, wrong)).data
  if (!isResource(rest)) return { accepted: undefined, mistakes }
  // Skips findings in the object of a removed field, because the removal might be their only cause.
  const isTouched = ({ path }: FieldFinding) =>
    wrong.some((field) => field.slice(0, -1).every((step, index) => path[index] === step))
  const broken = rulesOf(profile, rest).filter((finding) => !isTouched(finding))
  return { accepted: rest, mistakes: [...mistakes, ...broken] }
}

function pathsOf(issue: z.core.$ZodIssue): readonly Path[] {
  const path = issuePathOf(issue)
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...path, key]) : [path]
}

/** A copy without wrong fields. Undefined if a wrong value is missing or is not a field, so it cannot be removed. */
function withoutFields(input: unknown, wrong: readonly Path[]): unknown {
  if (wrong.some((path) => valueAt(input, path) === undefined)) return undefined
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
