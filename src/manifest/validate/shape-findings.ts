import type { z } from 'zod'
import { SECRET_FIELDS } from '../../lib/sensitive.ts'
import { inputName, ownWords, typeName } from '../../kinds/left-out.ts'
import { isObject, valueAt } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { errorStatement } from '../diagnostics/diagnostic.ts'
import { type Path, type FieldFinding } from '../../kinds/finding.ts'
import {
  documentWords,
  formatHint,
  formatWords,
  issuePathOf,
  pathWords,
  quote,
  typeHint,
  valueFinding,
  wantedWords,
  type Context,
} from './shape.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import type { Profile } from '../../kinds/profile.ts'
import { PROFILES } from '../../kinds/profiles/profiles.ts'

type Issue = z.core.$ZodIssue

export function shapeFindings(issues: readonly Issue[], context: Context): readonly FieldFinding[] {
  const findings: FieldFinding[] = []
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

function findingsOf(issue: Issue, prefix: Path, context: Context): readonly FieldFinding[] {
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
): FieldFinding {
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
): readonly FieldFinding[] {
  const fitting = issue.errors.filter(
    (branch) => !branch.some((inner) => inner.path.length === 0 && inner.code === 'invalid_type'),
  )
  const [branch] = fitting
  if (fitting.length === 1 && branch !== undefined)
    return branch.flatMap((inner) => findingsOf(inner, path, context))
  const wanted = ownWords(issue.message) ?? 'has none of the forms that are allowed here'
  return [valueFinding(path, 'wrong-type', `${pathWords(path)} ${wanted}.`, formatHint(path, undefined))]
}

function missing(path: Path, issue: Issue, context: Context): FieldFinding {
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

function literalSecret(path: Path): FieldFinding {
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

function wrongValue(path: Path, values: readonly unknown[], context: Context): FieldFinding {
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

function outOfRange(path: Path, issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): FieldFinding {
  const isLow = issue.code === 'too_small'
  const limit = isLow ? issue.minimum : issue.maximum
  const unit = issue.origin === 'string' ? ' characters long' : issue.origin === 'array' ? ' items long' : ''
  const isEmpty = isLow && unit !== '' && Number(limit) === 1
  const wanted = isEmpty ? 'must not be empty' : `must be at ${isLow ? 'least' : 'most'} ${limit}${unit}`
  const hint = isEmpty ? 'Give it a value, or remove the field.' : 'Write a value in this range.'
  return valueFinding(path, 'out-of-range', `${pathWords(path)} ${wanted}.`, hint)
}

function fieldName(path: Path, issue: Issue | undefined): FieldFinding {
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

function unknownFields(parent: Path, names: readonly string[], context: Context): readonly FieldFinding[] {
  const known = knownFields(context.schema, parent)
  return names.map((name) => {
    const isShown = !looksLikeToken(name) && !parent.some((step) => looksSensitive(String(step)))
    const where = parent.length === 0 ? 'at the top of a manifest' : `in ${pathWords(parent)}`
    const what = isShown ? `field ${quote(name)}` : 'such field'
    const message = `There is no ${what} ${where}${documentWords(parent, context)}.`
    const { hint, meant } = adviceOn(name, known, parent, context)
    return {
      ...errorStatement('unknown-field', message, hint),
      at: 'field',
      path: [...parent, name],
      meant: meant === undefined ? undefined : [...parent, meant],
    }
  })
}

const NO_MERGE = 'The YAML merge key "<<" is not supported. Write the fields themselves.'

function adviceOn(
  name: string,
  known: readonly string[],
  parent: Path,
  context: Context,
): { readonly hint: string; readonly meant?: string } {
  if (name === '<<') return { hint: NO_MERGE }
  if (known.includes('secretRef'))
    return {
      hint: 'Write secretRef: {name: …, key: …}, with the name of the mounted secret.',
      meant: 'secretRef',
    }
  const kind = valueAt(context.input, ['kind'])
  const knows = ({ kinds }: Profile) =>
    kinds.some((it) => it.name === kind && knownFields(it.schema, parent).includes(name))
  const other = PROFILES.find((profile) => profile.name !== context.profile.name && knows(profile))
  const also = other === undefined ? '' : ` It exists with --profile ${other.name}.`
  const levels = levelsOf(name, context)
  if (levels.length > 0) return { hint: `It belongs ${levels.slice(0, 3).map(placeOf).join(' or ')}.${also}` }
  const free = known.filter((field) => valueAt(context.input, [...parent, field]) === undefined)
  const meant = nearest(name, free)
  if (meant !== undefined) return { hint: `Did you mean "${meant}"?${also}`, meant }
  if (also !== '') return { hint: `${also.trimStart()} Otherwise, remove it.` }
  if (known.length === 0) return { hint: 'Remove it.' }
  return {
    hint: `Remove it. Known fields: ${known.slice(0, 15).join(', ')}${known.length > 15 ? ', …' : ''}.`,
  }
}

/** Paths of objects that could have the field, but lack it. Prefers objects that are in the manifest. */
function levelsOf(name: string, { schema, input }: Context): readonly string[] {
  // No paths for `secretRef`, because it is valid in too many fields.
  if (name === 'secretRef') return []
  const all = [...homesOf(schema, '', name)].filter(
    (home) => !home.endsWith('secretRef') && !home.includes('[]'),
  )
  const present = all.filter((home) => isObject(valueAt(input, stepsOf(home))))
  const levels = present.length > 0 ? present : all
  return levels.filter((home) => valueAt(input, [...stepsOf(home), name]) === undefined)
}

function stepsOf(home: string): readonly string[] {
  return home === '' ? [] : home.split('.')
}

function placeOf(home: string): string {
  return home === '' ? 'at the top of the manifest, without spaces before it' : `under ${home}`
}

interface Shape {
  readonly def: {
    readonly type: string
    readonly shape?: Readonly<Record<string, Shape>>
    readonly innerType?: Shape
    readonly element?: Shape
    readonly valueType?: Shape
    readonly options?: readonly Shape[]
    readonly format?: string
  }
}

function knownFields(schema: z.ZodType, path: Path): readonly string[] {
  return [...new Set(shapesAt(schema, path).flatMap((shape) => Object.keys(shape.def.shape ?? {})))]
}

function formatOf(schema: z.ZodType, path: Path): string | undefined {
  return shapesAt(schema, path).find((shape) => shape.def.format !== undefined)?.def.format
}

function shapesAt(schema: z.ZodType, path: Path): readonly Shape[] {
  let shapes: readonly Shape[] = [schema]
  for (const step of path) shapes = shapes.flatMap(unwrap).flatMap((shape) => child(shape, step))
  return shapes.flatMap(unwrap)
}

function* homesOf(shape: Shape, path: string, name: string): Generator<string> {
  for (const { def } of unwrap(shape)) {
    if (def.element !== undefined) yield* homesOf(def.element, `${path}[]`, name)
    for (const [field, next] of Object.entries(def.shape ?? {})) {
      if (field === name) yield path
      yield* homesOf(next, path === '' ? field : `${path}.${field}`, name)
    }
  }
}

function unwrap(shape: Shape): readonly Shape[] {
  const { innerType, options } = shape.def
  if (innerType !== undefined) return unwrap(innerType)
  return options === undefined ? [shape] : options.flatMap(unwrap)
}

function child(shape: Shape, step: string | number): readonly Shape[] {
  const { shape: fields, element, valueType } = shape.def
  const next = fields?.[String(step)] ?? element ?? valueType
  return next === undefined ? [] : [next]
}
