import type { Json } from '../lib/json.ts'
import type { SecretMask } from '../lib/mask/secret-mask.ts'
import { escapeControls } from '../lib/shown-text.ts'
import { canonicalLeaf, type LeafForm, membersOf } from './leaf-forms.ts'
import { maskSensitive, maskText, SENSITIVE } from './mask.ts'

/** A field with a value other than in the manifest. Both texts are printable and masked. */
export interface Difference {
  readonly field: string
  readonly desired: string
  readonly observed: string
}

/** Maximum characters of a shown value. */
const LONGEST = 200

const SHARED_SHOWN = 40

export const NOT_SET = '(not set)'

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

type Pair = readonly [desired: string, observed: string]

/** Two printable, masked texts of at most 200 characters in which the difference is visible. */
export function showPair(form: LeafForm, desired: Json | undefined, observed: Json | undefined): Pair {
  const [a, b] = [desired, observed].map(
    (value) => countLarge(value) ?? (canonicalLeaf(form, value) === undefined ? undefined : value),
  )
  const lists = [membersIn(form, a), membersIn(form, b)]
  const texts =
    lists[0] !== undefined && lists[1] !== undefined
      ? showLists(lists[0], lists[1], form)
      : ([showValue(form, a), showValue(form, b)] as const)
  // If both texts look the same, quotes tell the number `5` from the text `"5"`.
  const pair = texts[0] === texts[1] ? ([quoted(a), quoted(b)] as const) : texts
  return window(pair)
}

export function showSensitivePair(
  form: LeafForm,
  desired: Json | undefined,
  observed: Json | undefined,
): Pair {
  const show = (value: Json | undefined) => (canonicalLeaf(form, value) === undefined ? NOT_SET : SENSITIVE)
  return [show(desired), show(observed)]
}

export function showName(name: string): string {
  return escapeControls(name.length > 80 ? `${name.slice(0, 79)}…` : name).toWellFormed()
}

export function showText(text: string): string {
  return cut(escapeControls(cut(maskText(text), 0)), 0)
}

/** Maximum characters and items. Of a larger value, only the size is shown, because masking would take long. */
const MAX_TEXT_LENGTH = 200_000
const MAX_ITEMS = 20_000

/** Size of a too large value, such as `(300000 characters)`. Undefined: the value is not too large. */
function countLarge(value: Json | undefined): string | undefined {
  if (typeof value === 'string' && value.length > MAX_TEXT_LENGTH) return `(${value.length} characters)`
  return Array.isArray(value) && value.length > MAX_ITEMS ? `(${value.length} entries)` : undefined
}

function membersIn(form: LeafForm, value: Json | undefined): readonly string[] | undefined {
  if (value === undefined || (form !== 'set' && form !== 'comma-list' && form !== 'ordered')) return undefined
  const members = form === 'ordered' ? (Array.isArray(value) ? value : undefined) : membersOf(form, value)
  if (members === undefined) return undefined
  const texts = members.filter((item: Json) => item !== null).map((item: Json) => plain(item))
  return form === 'ordered' ? texts : [...new Set(texts)].toSorted()
}

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

/** Cuts long texts: each starts shortly before the first difference. */
function window([a, b]: Pair): Pair {
  if (a.length <= LONGEST && b.length <= LONGEST)
    return [cut(escapeControls(a), 0), cut(escapeControls(b), 0)]
  const start = Math.max(0, sharedLength(a, b) - SHARED_SHOWN)
  return [cut(escapeControls(cut(a, start)), 0), cut(escapeControls(cut(b, start)), 0)]
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
