import { isScalar, visit, type Document, type Scalar } from 'yaml'
import { isObject } from '../../lib/json.ts'
import { schemaOf, type Profile } from '../../kinds/profile.ts'
import { indentRepairs } from '../yaml/indentation.ts'
import type { Limits } from '../yaml/limits.ts'
import { lookAlikeRepairs } from '../yaml/look-alikes.ts'
import { markRepairs } from '../yaml/mark-repairs.ts'
import { yamlDocuments } from '../yaml/parse-yaml.ts'
import type { Repair } from '../yaml/repair.ts'
import type { YamlFinding } from '../yaml/syntax-findings.ts'
import { convert } from '../yaml/to-value.ts'
import { unseenRepairs } from '../yaml/unseen.ts'

/*
 * What to write where a text is no YAML: small changes are tried, and only one after which the text can be read is said. So a hint that
 * is followed does not lead to the next error.
 */

/** Mistakes of one document that are looked for one after another. */
const MOST_MISTAKES = 4

/** A larger document is not tried: manifests are small. */
const LARGEST = 16_384

/** How many characters may still be read again for hints: however much is broken, hints cost no more than reading it did. */
export interface Effort {
  left: number
  /** Findings that may still be put into words. */
  findings: number
}

/** Some three small manifests with a mistake each. */
const AT_FIRST = 131_072

/** Some twenty. */
const MOST_EFFORT = 1_048_576

/** Findings of one reading. What is wrong in documents beyond them is only said to be. */
const MOST_FINDINGS = 5_000

/** What documents are held against, and what may be spent on saying what is wrong with them. */
export interface ParseOptions {
  readonly profile: Profile
  readonly limits: Limits
  /** Of all files of a reading. */
  readonly effort: Effort
}

/** For one reading of all files. */
export function createEffort(): Effort {
  return { left: AT_FIRST, findings: MOST_FINDINGS }
}

/** A file of this many bytes is read. */
export function allowFor(effort: Effort, bytes: number): void {
  effort.left = Math.min(Math.max(effort.left, MOST_EFFORT), effort.left + bytes / 2)
}

/** Spends it, if there is so much left. */
export function canAfford(effort: Effort, cost: number): boolean {
  if (effort.left < cost) return false
  effort.left -= cost
  return true
}

/** What it costs to read a text again. */
function costOf(text: string): number {
  return text.length + START_COST
}

/** Characters that cost as much as reading an empty text. */
const START_COST = 100

/** The mistakes that are known with their remedy, and where the parser is lost even without them. */
export interface Repaired {
  readonly findings: readonly YamlFinding[]
  /** Nothing else is wrong with the text as YAML. */
  readonly isWhole: boolean
  /** The mistakes end before this line, from 0; what the parser says of it and of those after it is still to be said. */
  readonly until: number
}

/**
 * The line whose indentation alone makes fields unknown in a text that is YAML, when everything is right without that mistake.
 * @param offset of the first field that is not known at its place
 */
export function misplacedLine(text: string, offset: number, options: ParseOptions): YamlFinding | undefined {
  if (text.length > LARGEST) return undefined
  for (const { edit, range, statement } of indentRepairs(text, offset)) {
    if (!canAfford(options.effort, costOf(text))) return undefined
    const { lost, faults } = judge(edited(text, edit), options)
    if (lost === undefined && faults === 0)
      return { statement: { ...statement, code: 'unknown-field' }, range }
  }
  return undefined
}

function edited(text: string, { start, end, text: inserted }: Repair['edit']): string {
  return text.slice(0, start) + inserted + text.slice(end)
}

interface Judged {
  readonly text: string
  /** Where the parser is first lost; undefined where it is not. */
  readonly lost: number | undefined
  readonly faults: number
}

/** @param text of one document that the parser cannot read */
export function repaired(text: string, options: ParseOptions): Repaired {
  const findings: YamlFinding[] = []
  const { effort } = options
  if (text.length > LARGEST || !canAfford(effort, costOf(text))) return { findings, isWhole: false, until: 0 }
  let now = judge(text, options)
  while (now.lost !== undefined && findings.length < MOST_MISTAKES) {
    const best = bestRepair(now.text, now.lost, options)
    if (best === undefined) break
    findings.push({ statement: best.repair.statement, range: inOriginal(text, now.text, best.repair) })
    now = best.judged
  }
  return {
    findings,
    isWhole: now.lost === undefined,
    until: linesBefore(now.text, now.lost ?? now.text.length),
  }
}

function bestRepair(
  text: string,
  lost: number,
  options: ParseOptions,
): { readonly repair: Repair; readonly judged: Judged } | undefined {
  const { effort } = options
  if (effort.left < costOf(text)) return undefined
  const line = linesBefore(text, lost)
  let best: { readonly repair: Repair; readonly judged: Judged } | undefined
  for (const repair of [
    ...unseenRepairs(text, lost),
    ...lookAlikeRepairs(text, lost),
    ...markRepairs(text, lost),
    ...indentRepairs(text, lost),
  ]) {
    if (!canAfford(effort, costOf(text))) break
    const judged = judge(edited(text, repair.edit), options)
    // Of half a remedy nobody is helped: what is left has to be further down.
    if (judged.lost !== undefined && linesBefore(judged.text, judged.lost) <= line + 1) continue
    if (best === undefined || isBetter(judged, best.judged)) best = { repair, judged }
    if (judged.lost === undefined && judged.faults === 0) break
  }
  return best
}

function isBetter(a: Judged, b: Judged): boolean {
  if (a.lost !== b.lost) return (a.lost ?? Infinity) > (b.lost ?? Infinity)
  return a.faults < b.faults
}

/** How much is wrong with a text: as YAML, and as manifests. */
function judge(text: string, options: ParseOptions): Judged {
  const { documents, findings } = yamlDocuments(text)
  const errors = [...documents.flatMap((document) => document.errors), ...findings]
  if (errors.length > 0) return { text, lost: Math.min(...errors.map(({ pos: [at] }) => at)), faults: 0 }
  return {
    text,
    lost: undefined,
    faults: documents
      .map((document) => faultsIn(text, document, options))
      .reduce((sum, faults) => sum + faults, 0),
  }
}

function faultsIn(text: string, document: Document.Parsed, { profile, limits }: ParseOptions): number {
  const { value, findings } = convert(document, limits)
  const kind = isObject(value) ? value.kind : undefined
  const schema = typeof kind === 'string' ? schemaOf(profile, kind) : undefined
  const issues = schema?.safeParse(value).error?.issues ?? []
  const wrong = issues.map((issue) => (issue.code === 'unrecognized_keys' ? issue.keys.length : 1))
  return (
    findings.length +
    foldedTexts(text, document) +
    wrong.reduce((sum, count) => sum + count, schema === undefined ? 1 : 0)
  )
}

/** Texts without quotes that go on in the next line: what was meant as a field or an item may have become a part of them. */
function foldedTexts(text: string, document: Document.Parsed): number {
  let folded = 0
  visit(document, {
    Scalar(_key, node) {
      if (isScalar(node) && node.type === 'PLAIN' && isFolded(text, node.range)) folded += 1
    },
  })
  return folded
}

function isFolded(text: string, range: Scalar['range']): boolean {
  return text.slice(range?.[0] ?? 0, range?.[1] ?? 0).includes('\n')
}

/** Lines stay lines, so that a place is found again by its line; what stands before it in its line is as it was. */
function inOriginal(original: string, now: string, { range }: Repair): YamlFinding['range'] {
  const line = linesBefore(now, range.start)
  const column = range.start - (now.lastIndexOf('\n', range.start - 1) + 1)
  let start = 0
  for (let count = 0; count < line; count += 1) start = original.indexOf('\n', start) + 1
  return { start: start + column, end: start + column + (range.end - range.start) }
}

function linesBefore(text: string, offset: number): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) count += 1
  return count
}
