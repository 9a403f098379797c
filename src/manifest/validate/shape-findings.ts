import type { z } from 'zod'
import { SECRET_FIELDS } from '../../kinds/mask.ts'
import { inputName, ownWords, typeName } from '../../kinds/type-words.ts'
import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Path, Statement } from '../diagnostics/diagnostic.ts'
import { formatOf, homesOf, knownFields } from './known-fields.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import { formatHint, formatWords, nameOf, quote, typeHint, wantedWords } from './shape-words.ts'

/** What is wrong with the shape of a document, and where. `at` says what to mark. */
export interface ShapeFinding {
  readonly at: 'value' | 'field'
  readonly path: Path
  readonly statement: Statement
}

type Issue = z.core.$ZodIssue

interface Context {
  readonly schema: z.ZodType
  /** The document as it is; looked at, never shown where it may hold a secret. */
  readonly input: unknown
  /** More issues than this are not looked at. */
  readonly most: number
}

/** What zod found, in words: one finding for each unknown field, unions taken apart. */
export function shapeFindings(issues: readonly Issue[], context: Context): readonly ShapeFinding[] {
  return issues.slice(0, context.most).flatMap((issue) => findingsOf(issue, [], context))
}

function findingsOf(issue: Issue, prefix: Path, context: Context): readonly ShapeFinding[] {
  const path = [...prefix, ...issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))]
  const input = valueAt(context.input, path)
  if (issue.code === 'unrecognized_keys') {
    return isSecretBundle(path)
      ? [literalSecret(path)]
      : issue.keys.slice(0, context.most).map((name) => unknownField(path, name, context))
  }
  if (isSecretBundle(path.slice(0, -1)) && isWrittenOut(valueAt(context.input, path.slice(0, -1)))) return []
  if (input === undefined)
    return isReferenceOfKubernetes(valueAt(context.input, path.slice(0, -1)))
      ? []
      : [missing(path, issue, context)]
  if (isLiteralSecret(path, input)) return [literalSecret(path)]
  if (issue.code === 'invalid_union') return unionFindings(issue, path, context)
  if (issue.code === 'invalid_element')
    return issue.issues.flatMap((inner) => findingsOf(inner, path, context))
  return [simpleFinding(issue, path, input)]
}

type Simple = Exclude<Issue, { readonly code: 'unrecognized_keys' | 'invalid_union' | 'invalid_element' }>

function simpleFinding(issue: Simple, path: Path, input: unknown): ShapeFinding {
  const name = nameOf(path)
  const format = (words: string) =>
    valueFinding(
      path,
      'wrong-format',
      `${name} ${words}.`,
      formatHint(path, issue.code === 'invalid_format' ? issue.format : undefined),
    )
  if (issue.code === 'invalid_type') {
    const message = `${name} must be ${typeName(issue.expected)}, and is ${inputName(input)}.`
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

function unknownField(parent: Path, name: string, context: Context): ShapeFinding {
  const path = [...parent, name]
  const known = knownFields(context.schema, parent)
  const meant = name.length > 64 ? undefined : nearest(name, known)
  const shown =
    parent.some((step) => looksSensitive(String(step))) || looksLikeToken(name)
      ? 'such field'
      : `field ${quote(name)}`
  const where = parent.length === 0 ? 'at the top of a manifest' : `in ${nameOf(parent)}`
  return {
    at: 'field',
    path,
    statement: {
      severity: 'error',
      code: 'unknown-field',
      message: `There is no ${shown} ${where}.`,
      hint: unknownHint(name, meant, known, context),
    },
  }
}

const NOT_KUBERNETES =
  'Write {secretRef: {name: …, key: …}} instead, with the name of the mounted secret and its key.'

function unknownHint(
  name: string,
  meant: string | undefined,
  known: readonly string[],
  context: Context,
): string {
  if (KUBERNETES_FIELDS.includes(name)) return NOT_KUBERNETES
  if (name === '<<') return 'YAML merge keys are not supported; write the fields out.'
  if (meant !== undefined) return `Did you mean "${meant}"?`
  const home = homesOf(context.schema, name)[0]
  if (home !== undefined) return `It belongs ${home === '' ? 'at the top of the manifest' : `in ${home}`}.`
  return known.length === 0
    ? 'Remove it.'
    : `Remove it; known are ${known.slice(0, 15).join(', ')}${known.length > 15 ? ', …' : ''}.`
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
  const bundle = isSecretBundle(path) || isSecretBundle(path.slice(0, -1))
  if (path.at(-1) === 'secretRef') return secretRefAsText(path, bundle)
  return {
    at: 'value',
    path,
    statement: {
      severity: 'error',
      code: 'literal-secret',
      message: `${nameOf(path)} must be a reference to a mounted secret, and never the secret itself.`,
      hint: `Write {secretRef: {name: …${bundle ? '' : ', key: …'}}}. A secret that was committed is known: replace it.`,
    },
  }
}

/** `secretRef: kafka/username`: the right field, in another form. What stands there is never repeated. */
function secretRefAsText(path: Path, bundle: boolean): ShapeFinding {
  const message = `${nameOf(path)} must be a mapping with ${bundle ? 'the field name' : 'the fields name and key'}.`
  const hint = bundle
    ? 'Write secretRef: {name: …}, with the name of the mounted secret.'
    : 'Write secretRef: {name: kafka, key: username} for the key "username" of the mounted secret "kafka".'
  return valueFinding(path, 'literal-secret', message, hint)
}

function wrongValue(path: Path, input: unknown, values: readonly unknown[]): ShapeFinding {
  const allowed = values.map(String)
  const text = typeof input === 'string' && input.length <= 64 ? input : undefined
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
    allowed.length === 1 ? `Write "${allowed[0]}".` : hint,
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

function valueFinding(path: Path, code: Statement['code'], message: string, hint: string): ShapeFinding {
  return { at: 'value', path, statement: { severity: 'error', code, message, hint } }
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

/** As in a pod: said once, at the field that is one of Kubernetes. */
function isReferenceOfKubernetes(input: unknown): boolean {
  return isObject(input) && KUBERNETES_FIELDS.some((name) => Object.hasOwn(input, name))
}

const KUBERNETES_FIELDS = ['valueFrom', 'secretKeyRef']

/** Credentials with fields of their own instead of `secretRef`: said once, as a secret that is written out. */
function isWrittenOut(input: unknown): boolean {
  return isObject(input) && Object.keys(input).some((name) => name !== 'secretRef')
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input
  for (const step of path) {
    if (Array.isArray(value)) value = value[Number(step)]
    else if (isObject(value) && Object.hasOwn(value, step)) value = value[step]
    else return undefined
  }
  return value
}
