import type { z } from 'zod'
import { SECRET_FIELDS } from '../../lib/sensitive.ts'
import { inputName, ownWords, typeName } from '../../kinds/type-words.ts'
import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { formatOf } from './known-fields.ts'
import { valueAt, valueFinding, type Context, type ShapeFinding } from './shape.ts'
import { unknownFields } from './unknown-field.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import { formatHint, formatWords, nameOf, quote, typeHint, wantedWords } from './shape-words.ts'

type Issue = z.core.$ZodIssue

/** What zod found, in words: one finding for each unknown field, unions taken apart. */
export function shapeFindings(issues: readonly Issue[], context: Context): readonly ShapeFinding[] {
  const findings: ShapeFinding[] = []
  const counts = new Map<string, number>()
  for (const issue of issues) {
    const sort = sortOf(issue, context)
    const left = context.most.ofRule - (counts.get(sort) ?? 0)
    if (left <= 0) continue
    const found = findingsOf(cut(issue, left), [], context)
    counts.set(sort, (counts.get(sort) ?? 0) + found.length)
    findings.push(...found)
    if (findings.length > context.most.all) break
  }
  const there = new Set(findings.flatMap(({ stands = [] }) => stands.map((path) => JSON.stringify(path))))
  if (there.size === 0) return findings
  return findings.filter(
    ({ statement, path }) => statement.code !== 'missing-field' || !there.has(JSON.stringify(path)),
  )
}

/** What is left out is not looked at, nor put into words. */
function cut(issue: Issue, left: number): Issue {
  return issue.code === 'unrecognized_keys' ? { ...issue, keys: issue.keys.slice(0, left) } : issue
}

/** What is said in one way, and so is counted together. */
function sortOf(issue: Issue, { input }: Context): string {
  const isMissing = issue.code !== 'unrecognized_keys' && valueAt(input, pathOf(issue)) === undefined
  return isMissing ? 'missing' : issue.code
}

function pathOf({ path }: Issue): Path {
  return path.map((step) => (typeof step === 'symbol' ? String(step) : step))
}

function findingsOf(issue: Issue, prefix: Path, context: Context): readonly ShapeFinding[] {
  const path = [...prefix, ...pathOf(issue)]
  const input = valueAt(context.input, path)
  if (issue.code === 'unrecognized_keys') {
    return isSecretBundle(path) ? [literalSecret(path)] : unknownFields(path, issue.keys, context)
  }
  if (isSecretBundle(path.slice(0, -1)) && isWrittenOut(valueAt(context.input, path.slice(0, -1)))) return []
  if (input === undefined) return [missing(path, issue, context)]
  if (isLiteralSecret(path, input)) return [literalSecret(path)]
  if (issue.code === 'invalid_union') return unionFindings(issue, path, context)
  if (issue.code === 'invalid_element')
    return issue.issues.flatMap((inner) => findingsOf(inner, path, context))
  return [simpleFinding(issue, path, context)]
}

type Simple = Exclude<Issue, { readonly code: 'unrecognized_keys' | 'invalid_union' | 'invalid_element' }>

function simpleFinding(issue: Simple, path: Path, context: Context): ShapeFinding {
  const input = valueAt(context.input, path)
  const name = nameOf(path)
  const format = (words: string) =>
    valueFinding(
      path,
      'wrong-format',
      `${name} ${words}.`,
      formatHint(path, issue.code === 'invalid_format' ? issue.format : undefined),
    )
  if (issue.code === 'invalid_type') {
    const isFraction = issue.expected === 'int' && typeof input === 'number' && Number.isFinite(input)
    const is = isFraction ? `${input} is not one` : `is ${inputName(input)}`
    const message = `${name} must be ${typeName(issue.expected)}, and ${is}.`
    return valueFinding(path, 'wrong-type', message, typeHint(issue.expected, input, path))
  }
  if (issue.code === 'invalid_value') return wrongValue(path, input, issue.values)
  if (issue.code === 'invalid_format') return format(formatWords(issue))
  if (issue.code === 'invalid_key') return fieldName(path, issue.issues[0])
  if (issue.code === 'too_small' || issue.code === 'too_big') return outOfRange(path, issue)
  if (issue.code === 'not_multiple_of') return format(`must be a multiple of ${issue.divisor}`)
  return format(ownWords(issue.message) ?? 'does not have the right form')
}

/** The branch that was meant is the one whose type fits; when none or several fit, the union's own words. */
function unionFindings(
  issue: z.core.$ZodIssueInvalidUnion,
  path: Path,
  context: Context,
): readonly ShapeFinding[] {
  const fitting = issue.errors.filter(
    (branch) => !branch.some((inner) => inner.path.length === 0 && inner.code === 'invalid_type'),
  )
  const [branch] = fitting
  if (fitting.length === 1 && branch !== undefined)
    return branch.flatMap((inner) => findingsOf(inner, path, context))
  const wanted = ownWords(issue.message) ?? 'has none of the forms that are allowed here'
  return [valueFinding(path, 'wrong-type', `${nameOf(path)} ${wanted}.`, formatHint(path, undefined))]
}

function missing(path: Path, issue: Issue, context: Context): ShapeFinding {
  const name = String(path.at(-1) ?? '')
  const parent = path.slice(0, -1)
  const where = parent.length === 0 ? 'The manifest' : nameOf(parent)
  const wanted =
    issue.code === 'invalid_type' ? `: ${wantedWords(issue.expected, formatOf(context.schema, path))}` : ''
  const value =
    issue.code === 'invalid_value' && issue.values.length === 1
      ? ` "${name}: ${String(issue.values[0])}"`
      : ` "${name}"${wanted}`
  return {
    at: 'value',
    path,
    statement: {
      severity: 'error',
      code: 'missing-field',
      message: `${where} needs the field "${name}".`,
      hint: `Add${value}.`,
    },
  }
}

function literalSecret(path: Path): ShapeFinding {
  const isBundle = isSecretBundle(path) || isSecretBundle(path.slice(0, -1))
  const fields = isBundle ? '{name: …}' : '{name: …, key: …}'
  if (path.at(-1) === 'secretRef')
    return valueFinding(
      path,
      'literal-secret',
      `${nameOf(path)} must be a mapping with ${isBundle ? 'the field name' : 'the fields name and key'}.`,
      `Write secretRef: ${fields}, with the name of the mounted secret${isBundle ? '' : ' and its key'}.`,
    )
  return valueFinding(
    path,
    'literal-secret',
    `${nameOf(path)} must be a reference to a mounted secret, and never the secret itself.`,
    `Write {secretRef: ${fields}}. Replace a secret that was committed.`,
  )
}

function wrongValue(path: Path, input: unknown, values: readonly unknown[]): ShapeFinding {
  const allowed = values.map(String)
  const text = typeof input === 'string' && input.length <= 64 ? input : undefined
  const words = text?.split(/[ ,]+/) ?? []
  const meant = text === undefined ? undefined : nearest(text, allowed)
  const shown =
    text === undefined || looksSensitive(String(path.at(-1))) || looksLikeToken(text)
      ? 'this value'
      : quote(text)
  const hint =
    meant === undefined
      ? `Write one of ${allowed.map((value) => `"${value}"`).join(', ')}.`
      : `Did you mean "${meant}"?`
  return valueFinding(
    path,
    'wrong-value',
    `${nameOf(path)} cannot be ${shown}.`,
    allowed.length === 1
      ? `Write "${allowed[0]}".`
      : words.length > 1 && words.every((word) => allowed.includes(word))
        ? `Put a comma between the values: ${words.join(', ')}.`
        : hint,
  )
}

function outOfRange(path: Path, issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): ShapeFinding {
  const limit = issue.code === 'too_small' ? issue.minimum : issue.maximum
  const bound = `at ${issue.code === 'too_small' ? 'least' : 'most'} ${String(limit)}`
  const unit = issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' items long' : ''
  const empty = issue.code === 'too_small' && unit !== '' && Number(limit) === 1
  const wanted = empty ? 'must not be empty' : `must be ${bound}${unit}`
  return valueFinding(
    path,
    'out-of-range',
    `${nameOf(path)} ${wanted}.`,
    empty ? 'Give it a value, or remove the field.' : rangeHint(issue, String(limit)),
  )
}

function rangeHint(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig, limit: string): string {
  const isLow = issue.code === 'too_small'
  if (issue.origin === 'string') return isLow ? 'Write a longer text.' : 'Shorten it.'
  if (issue.origin === 'array') return isLow ? 'Add the items that are missing.' : 'Remove some of the items.'
  return `Write ${limit} or ${isLow ? 'more' : 'less'}.`
}

function fieldName(path: Path, issue: Issue | undefined): ShapeFinding {
  const wanted = issue === undefined ? undefined : ownWords(issue.message)
  const statement = valueFinding(
    path,
    'wrong-format',
    `The name of a field in ${nameOf(path.slice(0, -1))} ${wanted ?? 'has the wrong length or form'}.`,
    'Rename the field, or remove it.',
  ).statement
  return { at: 'field', path, statement }
}

function isLiteralSecret(path: Path, input: unknown): boolean {
  const name = String(path.at(-1))
  return (
    !isObject(input) &&
    input !== null &&
    (SECRET_FIELDS.has(name) || name === 'secretRef' || isSecretBundle(path))
  )
}

/** `spec.credentials` of a Service is a reference as a whole; elsewhere `credentials` is a mapping of two. */
function isSecretBundle(path: Path): boolean {
  return path.length === 2 && path[0] === 'spec' && path[1] === 'credentials'
}

/** Credentials with fields of their own instead of `secretRef`: said once, as a secret that is written out. */
function isWrittenOut(input: unknown): boolean {
  return isObject(input) && Object.keys(input).some((name) => name !== 'secretRef')
}
