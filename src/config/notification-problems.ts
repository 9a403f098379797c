import { isMap, isScalar, type Document } from 'yaml'
import type { z } from 'zod'
import { nearest } from '../lib/nearest.ts'
import { offsetOf } from '../lib/yaml-offset.ts'
import type { SettingProblem } from './setting-problem.ts'

type Issue = z.core.$ZodIssue
type Path = readonly PropertyKey[]

interface Context {
  readonly doc: Document
  /** The place of an offset in the text. */
  readonly at: (offset: number) => string
}

export function placeOf(
  file: string,
  { line, col }: { readonly line: number; readonly col: number },
): string {
  return `${file}:${line}:${col}`
}

export function notificationProblem(from: string, why: string, right: string): SettingProblem {
  return { setting: 'notifications', from, given: undefined, why, right }
}

/** What is wrong with the shape. A value is shown only where no address can stand in its place. */
export function problemsOfIssues(issues: readonly Issue[], context: Context): readonly SettingProblem[] {
  return issues.flatMap((issue) => problemsOf(issue, context))
}

function problemsOf(issue: Issue, context: Context): readonly SettingProblem[] {
  const { path } = issue
  const here = context.at(offsetOf(context.doc, path))
  const name = nameOf(path)
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => {
        const from = context.at(keyOffset(context.doc, path, key))
        const known = /^[\w-]{1,40}$/.test(key) ? `there is no field "${key}"` : 'there is no such field'
        const meant = nearest(key, FIELDS)
        return notificationProblem(
          from,
          `${known} in ${name}`,
          meant === undefined ? 'remove it' : `did you mean ${meant}?`,
        )
      })
    case 'invalid_union':
      return [unionProblem(issue, here, name)]
    case 'invalid_value': {
      const words = issue.values.map(String)
      const meant = typeof issue.input === 'string' ? nearest(issue.input, words) : undefined
      const question = meant === undefined ? '' : `; did you mean ${meant}?`
      return [
        notificationProblem(
          here,
          `${name} is not one of the possible values`,
          `give ${words.join(', ')}${question}`,
        ),
      ]
    }
    case 'invalid_type': {
      if (issue.input === undefined)
        return [
          notificationProblem(
            here,
            `${name} is missing`,
            `give ${issue.expected === 'array' ? 'a list' : 'it'}`,
          ),
        ]
      const right = TYPES[issue.expected] ?? `give a ${issue.expected}`
      return [notificationProblem(here, `${name} is not what it should be`, right)]
    }
    case 'custom':
    case 'too_big':
    case 'too_small':
    case 'invalid_format':
    case 'invalid_key':
    case 'invalid_element':
    case 'not_multiple_of': {
      const [why = '', ...right] = issue.message.split('; ')
      return [notificationProblem(here, `${name}: ${why}`, right.join('; ') || 'correct it')]
    }
  }
}

const TYPES: Readonly<Record<string, string>> = {
  object: 'give a mapping',
  array: 'give a list',
  record: 'give a mapping',
  string: 'give a text, in quotes if need be',
}

function unionProblem(
  issue: Extract<Issue, { code: 'invalid_union' }>,
  here: string,
  name: string,
): SettingProblem {
  if (!isReference(issue.path)) {
    const missing = issue.input === undefined
    return notificationProblem(
      here,
      `${name} ${missing ? 'is missing' : 'is no known type'}`,
      'give webhook or slack',
    )
  }
  const right = 'give {secretRef: {name: …, key: …}} of a mounted secret, or {file: /an/absolute/path}'
  const missing = issue.input === undefined
  const why = missing
    ? `${name} is missing`
    : `${name} is no reference to a file: addresses and keys are secrets, and do not stand here`
  return notificationProblem(here, why, right)
}

function isReference(path: Path): boolean {
  return path.at(-1) === 'url' || path.at(-1) === 'signingKey'
}

/** `targets[0].filter`; `the file` for the whole. */
function nameOf(path: Path): string {
  const name = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')
  return name === '' ? 'the file' : name
}

function keyOffset(doc: Document, path: Path, key: string): number {
  const map = path.length === 0 ? doc.contents : doc.getIn(path, true)
  if (!isMap(map)) return offsetOf(doc, path)
  const pair = map.items.find((item) => isScalar(item.key) && item.key.value === key)
  return isScalar(pair?.key) ? (pair.key.range?.[0] ?? 0) : offsetOf(doc, path)
}

const FIELDS = [
  'targets',
  'name',
  'type',
  'url',
  'signingKey',
  'filter',
  'kinds',
  'names',
  'labels',
  'severity',
  'groupWait',
  'flapWindow',
  'rateLimit',
  'secretRef',
  'key',
  'file',
]
