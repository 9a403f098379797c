import type { Json } from '../lib/json.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import type { LeafForm } from './field-table.ts'
import { canonicalLeaf, membersOf } from './canonical.ts'
import { maskSensitive, maskText, SENSITIVE } from './mask.ts'

/** One field that differs; texts are ready to be shown, with sensitive values masked. */
export interface Difference {
  /** Dotted path in the body of the interface, such as `source.kafka.topics`. */
  readonly field: string
  readonly desired: string
  readonly observed: string
}

/** Most characters of a text that is shown. */
const LONGEST = 200

/** Where two long texts begin to differ, this much of what they share is shown before it. */
const SHARED_SHOWN = 40

export const NOT_SET = '(not set)'

/** Differences without the secrets that a platform repeats. An item that only the platform has can name a field. */
export function maskDifferences(
  differences: readonly Difference[],
  mask: SecretMask['mask'],
): readonly Difference[] {
  return differences.map((one) => ({
    ...one,
    field: one.field.replace(/\[.*\]/s, (items) => mask(items)),
    observed: mask(one.observed),
  }))
}

export type Pair = readonly [desired: string, observed: string]

/** Two values that differ, ready to be shown: masked, printable, at most 200 characters each, and telling. */
export function showPair(form: LeafForm, desired: Json | undefined, observed: Json | undefined): Pair {
  const [a, b] = [desired, observed].map((value) =>
    canonicalLeaf(form, value) === undefined ? undefined : value,
  )
  const lists = [membersIn(form, a), membersIn(form, b)]
  const texts =
    lists[0] !== undefined && lists[1] !== undefined
      ? showLists(lists[0], lists[1], form)
      : ([showValue(form, a), showValue(form, b)] as const)
  // `5` and "5" look the same, and are not
  const pair = texts[0] === texts[1] ? ([quoted(a), quoted(b)] as const) : texts
  return window(pair)
}

/** The same for a value that is kept from every output: only whether it is set can be seen. */
export function showSensitivePair(
  form: LeafForm,
  desired: Json | undefined,
  observed: Json | undefined,
): Pair {
  const show = (value: Json | undefined) => (canonicalLeaf(form, value) === undefined ? NOT_SET : SENSITIVE)
  return [show(desired), show(observed)]
}

/** A name from a manifest or a reply, as part of a path. */
export function showName(name: string): string {
  return printable(name.length > 80 ? `${name.slice(0, 79)}…` : name)
}

/** One text, ready to be shown. */
export function showText(text: string): string {
  return cut(printable(cut(maskText(text), 0)), 0)
}

function membersIn(form: LeafForm, value: Json | undefined): readonly string[] | undefined {
  if (value === undefined || (form !== 'set' && form !== 'comma-list' && form !== 'ordered')) return undefined
  const members = form === 'ordered' ? (Array.isArray(value) ? value : undefined) : membersOf(form, value)
  if (members === undefined) return undefined
  const texts = members.filter((item: Json) => item !== null).map((item: Json) => plain(item))
  return form === 'ordered' ? texts : [...new Set(texts)].toSorted()
}

/** Of long sets only what the other one lacks: that is what a person looks for. */
function showLists(a: readonly string[], b: readonly string[], form: LeafForm): Pair {
  const whole = [a.join(', '), b.join(', ')] as const
  if (form === 'ordered' || (whole[0].length <= LONGEST && whole[1].length <= LONGEST)) return whole
  return [ownOf(a, new Set(b)), ownOf(b, new Set(a))]
}

function ownOf(items: readonly string[], others: ReadonlySet<string>): string {
  const own = items.filter((item) => !others.has(item))
  return own.length === 0
    ? `${items.length} entries`
    : `${items.length} entries, only here: ${own.join(', ')}`
}

function showValue(form: LeafForm, value: Json | undefined): string {
  if (value === undefined) return NOT_SET
  return (membersIn(form, value) ?? [plain(value)]).join(', ')
}

function plain(value: Json): string {
  return typeof value === 'string' ? maskText(value) : quoted(value)
}

function quoted(value: Json | undefined): string {
  if (value === undefined) return NOT_SET
  if (typeof value === 'string') return JSON.stringify(maskText(value))
  return JSON.stringify(typeof value === 'object' ? maskSensitive({ value })['value'] : value)
}

/** Both texts from shortly before the place where they begin to differ, when either is too long. */
function window([a, b]: Pair): Pair {
  if (a.length <= LONGEST && b.length <= LONGEST) return [cut(printable(a), 0), cut(printable(b), 0)]
  const start = Math.max(0, sharedLength(a, b) - SHARED_SHOWN)
  return [cut(printable(cut(a, start)), 0), cut(printable(cut(b, start)), 0)]
}

function sharedLength(a: string, b: string): number {
  let length = 0
  while (length < a.length && a[length] === b[length]) length += 1
  return length
}

function cut(text: string, start: number): string {
  const from = start === 0 ? text : `…${text.slice(start)}`
  return (from.length > LONGEST ? `${from.slice(0, LONGEST - 1)}…` : from).toWellFormed()
}

/** Line breaks, and characters that a terminal obeys or that turn text around, in their escaped form. */
function printable(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  )
}
