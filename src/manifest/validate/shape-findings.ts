import type { z } from 'zod'
import { SECRET_FIELDS } from '../../lib/sensitive.ts'
import { inputName, ownWords, typeName } from '../../kinds/type-words.ts'
import { isObject, valueAt } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Path, ShapeFinding } from '../diagnostics/diagnostic.ts'
import {
  documentWords,
  formatHint,
  formatWords,
  pathWords,
  issuePathOf,
  quote,
  typeHint,
  valueFinding,
  wantedWords,
  type Context,
} from './shape.ts'
import { formatOf, NO_MERGE, unknownFields } from './unknown-field.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'

type Issue = z.core.$ZodIssue

export function shapeFindings(issues: readonly Issue[], context: Context): readonly ShapeFinding[] {
  const findings: ShapeFinding[] = []
  for (const issue of issues) {
    const left = context.most + 1 - findings.length
    if (left <= 0) break
    findings.push(...findingsOf(cut(issue, left), [], context))
  }
  const meant = new Set(findings.map((finding) => JSON.stringify(finding.meant)))
  return findings.filter(({ code, path }) => code !== 'missing-field' || !meant.has(JSON.stringify(path)))
}

function cut(issue: Issue, left: number): Issue {
  return issue.code === 'unrecognized_keys' ? { ...issue, keys: issue.keys.slice(0, left) } : issue
}

function findingsOf(issue: Issue, prefix: Path, context: Context): readonly ShapeFinding[] {
  const path = [...prefix, ...issuePathOf(issue)]
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

function simpleFinding(
  issue: Exclude<Issue, { readonly code: 'unrecognized_keys' | 'invalid_union' | 'invalid_element' }>,
  path: Path,
  context: Context,
): ShapeFinding {
  const input = valueAt(context.input, path)
  const name = pathWords(path)
  const format = (words: string) =>
    valueFinding(path, 'wrong-format', `${name} ${words}.`, formatHint(path, input))
  if (issue.code === 'invalid_type') {
    const isFraction = issue.expected === 'int' && typeof input === 'number' && Number.isFinite(input)
    const is = isFraction ? `${input} is not one` : `is ${inputName(input)}`
    const message = `${name} must be ${typeName(issue.expected)}, and ${is}.`
    return valueFinding(path, 'wrong-type', message, typeHint(issue.expected, path, context))
  }
  if (issue.code === 'invalid_value') return wrongValue(path, issue.values, context)
  if (issue.code === 'invalid_format') return format(formatWords(issue))
  if (issue.code === 'invalid_key') return fieldName(path, issue.issues[0])
  if (issue.code === 'too_small' || issue.code === 'too_big') return outOfRange(path, issue)
  if (issue.code === 'not_multiple_of') return format(`must be a multiple of ${issue.divisor}`)
  return format(ownWords(issue.message) ?? 'has the wrong form')
}

/** Findings of the only branch of the union that fits the type. Otherwise, one finding for the whole union. */
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
  return [valueFinding(path, 'wrong-type', `${pathWords(path)} ${wanted}.`, formatHint(path, undefined))]
}

function missing(path: Path, issue: Issue, context: Context): ShapeFinding {
  const name = String(path.at(-1) ?? '')
  const parent = path.slice(0, -1)
  const where = parent.length === 0 ? 'The manifest' : pathWords(parent)
  const wanted =
    issue.code === 'invalid_type' ? `: ${wantedWords(issue.expected, formatOf(context.schema, path))}` : ''
  const value =
    issue.code === 'invalid_value' && issue.values.length === 1
      ? ` "${name}: ${String(issue.values[0])}"`
      : ` "${name}"${wanted}`
  return valueFinding(path, 'missing-field', `${where} needs the field "${name}".`, `Add${value}.`)
}

function literalSecret(path: Path): ShapeFinding {
  const isBundle = isSecretBundle(path) || isSecretBundle(path.slice(0, -1))
  const isReference = path.at(-1) === 'secretRef'
  const reference = `secretRef: ${isBundle ? '{name: …}' : '{name: …, key: …}'}`
  return valueFinding(
    path,
    'literal-secret',
    `${pathWords(path)} must be a reference to a mounted secret, and never the secret itself.`,
    `Write ${isReference ? reference : `{${reference}}`}. If the secret was committed, rotate it.`,
  )
}

function wrongValue(path: Path, values: readonly unknown[], context: Context): ShapeFinding {
  const input = valueAt(context.input, path)
  const allowed = values.map(String)
  const text = typeof input === 'string' && input.length <= 64 ? input : undefined
  const meant = text === undefined ? undefined : nearest(text, allowed)
  const isHidden = text === undefined || looksSensitive(String(path.at(-1))) || looksLikeToken(text)
  return valueFinding(
    path,
    'wrong-value',
    `${pathWords(path)} cannot be ${isHidden ? 'this value' : quote(text)}${documentWords(path, context)}.`,
    meant === undefined
      ? `Write ${allowed.length === 1 ? '' : 'one of '}${allowed.map((value) => `"${value}"`).join(', ')}.`
      : `Did you mean "${meant}"?`,
  )
}

function outOfRange(path: Path, issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): ShapeFinding {
  const isLow = issue.code === 'too_small'
  const limit = isLow ? issue.minimum : issue.maximum
  const unit = issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' items long' : ''
  const isEmpty = isLow && unit !== '' && Number(limit) === 1
  const wanted = isEmpty ? 'must not be empty' : `must be at ${isLow ? 'least' : 'most'} ${limit}${unit}`
  const hint = isEmpty ? 'Give it a value, or remove the field.' : 'Write a value in this range.'
  return valueFinding(path, 'out-of-range', `${pathWords(path)} ${wanted}.`, hint)
}

function fieldName(path: Path, issue: Issue | undefined): ShapeFinding {
  const wanted = issue === undefined ? undefined : ownWords(issue.message)
  const message = `The name of a field in ${pathWords(path.slice(0, -1))} ${wanted ?? 'has the wrong length or form'}.`
  const hint = path.at(-1) === '<<' ? NO_MERGE : 'Rename the field, or remove it.'
  return { ...valueFinding(path, 'wrong-format', message, hint), at: 'field' }
}

function isLiteralSecret(path: Path, input: unknown): boolean {
  const name = String(path.at(-1))
  return (
    !isObject(input) &&
    input !== null &&
    (SECRET_FIELDS.has(name) || name === 'secretRef' || isSecretBundle(path))
  )
}

function isSecretBundle(path: Path): boolean {
  return path.length === 2 && path[0] === 'spec' && path[1] === 'credentials'
}

function isWrittenOut(input: unknown): boolean {
  return isObject(input) && Object.keys(input).some((name) => name !== 'secretRef')
}
