import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import { accepts, allFields, homesOf, knownFields } from './known-fields.ts'
import { hasColonAfter } from '../yaml/look-alikes.ts'
import { isPartOfReference, referenceForm, referencesOf, referredField } from './reference-form.ts'
import { valueAt, type Advice, type Context, type ShapeFinding, type Unknown } from './shape.ts'
import { canAfford } from './repairs.ts'
import { kindsInstead, ofSource } from './source-kind.ts'
import { nameOf, plainText, quote } from './shape-words.ts'

/* A field that may not stand where it stands: what was meant, or where it belongs. */

/** One finding for each field; those of a reference in another form are said once. */
export function unknownFields(
  parent: Path,
  names: readonly string[],
  context: Context,
): readonly ShapeFinding[] {
  const known = knownFields(context.schema, parent)
  const ofReference = names.filter((name) => isPartOfReference(name, known))
  return names
    .filter((name) => !ofReference.includes(name) || name === ofReference[0])
    .map((name) => unknownField({ parent, name, known, context }))
}

function unknownField(unknown: Unknown): ShapeFinding {
  const { parent, name, known } = unknown
  const isBelowSecret = parent.some((step) => looksSensitive(String(step))) && !isPartOfReference(name, known)
  const shown = isBelowSecret || looksLikeToken(name) ? 'such field' : `field ${quote(name)}`
  const where = parent.length === 0 ? 'at the top of a manifest' : `in ${nameOf(parent)}`
  const { hint, stands = [] } = adviceOn(unknown)
  return {
    at: 'field',
    path: [...parent, name],
    statement: { severity: 'error', code: 'unknown-field', message: `There is no ${shown} ${where}.`, hint },
    stands: stands.map((field) => [...parent, field]),
  }
}

/** What looking for advice costs, in characters that are read again. */
const ADVICE = 300

/** The first that fits. */
function adviceOn(unknown: Unknown): Advice {
  if (unknown.name === '<<') return { hint: 'YAML merge keys are not supported; write the fields out.' }
  if (unknown.name.length > 200 || !canAfford(unknown.context.effort, ADVICE)) return remove(unknown)
  return (
    asReference(unknown) ??
    gluedColon(unknown) ??
    cutByComma(unknown) ??
    nameAsField(unknown) ??
    ofSource(unknown) ??
    misspelt(unknown) ??
    elsewhere(unknown) ??
    remove(unknown)
  )
}

function asReference({ parent, name, known, context }: Unknown): Advice | undefined {
  const around = valueAt(context.input, parent)
  if (isPartOfReference(name, known)) {
    const field = known.includes('secretRef') ? parent.at(-1) : parent.at(-2)
    return { hint: `Write ${String(field)}: ${referenceForm(around)}.`, stands: ['secretRef', 'name', 'key'] }
  }
  const value = valueAt(context.input, [...parent, name])
  const field = referredField(name, known)
  if (field !== undefined) {
    if (!knownFields(context.schema, [...parent, field]).includes('secretRef')) {
      const text = plainText(isObject(value) ? value['name'] : value)
      return {
        hint: text === undefined ? `Did you mean "${field}"?` : `Write ${field}: ${text}.`,
        stands: [field],
      }
    }
    const isBundle = knownFields(context.schema, [...parent, field, 'secretRef']).join() === 'name'
    const form = isBundle ? '{secretRef: {name: …}}' : referenceForm(value)
    return { hint: `Write ${field}: ${form}.`, stands: [field] }
  }
  const each = known.filter((other) => knownFields(context.schema, [...parent, other]).includes('secretRef'))
  if (name !== 'secretRef' || each.length !== 2) return undefined
  return { hint: `Each of the two has a reference of its own: write ${referencesOf(each, value)}.` }
}

/** `name:amount` in braces: without a space the ":" is a part of the name. */
function gluedColon({ name, known }: Unknown): Advice | undefined {
  const field = known.find((each) => name.startsWith(`${each}:`) || hasColonAfter(name, each))
  if (field === undefined) return undefined
  return { hint: `Write "${field}: …", with a space after the ":".`, stands: [field] }
}

/** `{type: Decimal(10, 2)}`: in braces, the comma ends the value. */
function cutByComma({ parent, name, context }: Unknown): Advice | undefined {
  const around = valueAt(context.input, parent)
  if (!isObject(around) || around[name] !== null) return undefined
  const [field, value] = Object.entries(around).find(([, other]) => hasOpenBracket(other)) ?? []
  if (field === undefined || typeof value !== 'string' || looksSensitive(field)) return undefined
  const whole = plainText(`${value}, ${name}${name.includes(')') ? '' : ')'}`)
  const shown = whole === undefined || whole.includes('"') ? '"…"' : `"${whole}"`
  return { hint: `The comma ends the value here. Put it in quotes: ${field}: ${shown}.` }
}

function hasOpenBracket(value: unknown): boolean {
  return typeof value === 'string' && value.split('(').length > value.split(')').length
}

/** `- id: UUID` where an item has a field for the name and one for the value. */
function nameAsField({ parent, name, known, context }: Unknown): Advice | undefined {
  const around = valueAt(context.input, parent)
  const [first, second, third] = known
  if (typeof parent.at(-1) !== 'number' || first === undefined || second === undefined) return undefined
  if (third !== undefined || !isObject(around) || Object.keys(around).length !== 1) return undefined
  const [left, right] = [plainText(name), plainText(around[name])]
  if (left === undefined || right === undefined) return undefined
  // `source: id` is a field that is misspelt.
  if (known.some((field) => beginsWith(field, name))) return undefined
  return { hint: `Write {${first}: ${left}, ${second}: ${right}}.`, stands: [first, second] }
}

/** Names that other tools have for ours. */
const OTHERWISE: Readonly<Record<string, string>> = {
  bootstrapservers: 'brokers',
  'bootstrap.servers': 'brokers',
  bootstrap_servers: 'brokers',
  groupid: 'consumerGroup',
  'group.id': 'consumerGroup',
  group_id: 'consumerGroup',
  user: 'username',
}

function misspelt(unknown: Unknown): Advice | undefined {
  const { parent, name, known, context } = unknown
  const around = valueAt(context.input, parent)
  const free = known.filter((field) => !(isObject(around) && Object.hasOwn(around, field)))
  const other = OTHERWISE[name.toLowerCase()]
  const meant =
    nearest(name, free) ??
    free.find((field) => beginsWith(field, name)) ??
    free.find((field) => field === other)
  if (meant === undefined || fitsOnlyElsewhere(unknown, meant)) return undefined
  return { hint: `Did you mean "${meant}"?`, stands: [meant] }
}

/** A field of exactly this name is at another place, and its value fits there, and not what is similar here. */
function fitsOnlyElsewhere(unknown: Unknown, meant: string): boolean {
  const { parent, name, context } = unknown
  const home = nearestHome(name, unknown)
  const value = valueAt(context.input, [...parent, name])
  return (
    home !== undefined &&
    accepts(context.schema, [...pathOf(home), name], value) &&
    !accepts(context.schema, [...parent, meant], value)
  )
}

function beginsWith(field: string, name: string): boolean {
  return name.length >= 3 && field.toLowerCase().startsWith(name.toLowerCase())
}

function elsewhere(unknown: Unknown): Advice | undefined {
  const { name, context } = unknown
  // A reference stands at many places, each for a value of its own.
  if (name === 'secretRef') return undefined
  const home = nearestHome(name, unknown)
  if (home !== undefined)
    return {
      hint: isTaken(home, name, context)
        ? `Remove it: ${home} has the field "${name}" already.`
        : `It belongs ${placeOf(home)}.`,
    }
  const meant = name.length > 64 ? undefined : nearest(name, allFields(context.schema))
  const place = meant === undefined ? undefined : nearestHome(meant, unknown)
  if (meant !== undefined && place !== undefined && !isTaken(place, meant, context))
    return { hint: `Did you mean "${meant}"? It belongs ${placeOf(place)}.` }
  if (homesOf(context.schema, name).length > 0) return undefined
  const own = isObject(context.input) ? context.input['kind'] : undefined
  const kinds = context.profile.kinds
    .filter((kind) => kind.name !== own)
    .filter(({ schema }) => homesOf(schema, name).some((path) => !path.endsWith('secretRef')))
    .map((kind) => kind.name)
  if (kinds.length === 0) return undefined
  const listed = kinds.length === 1 ? kinds.join() : `${kinds.slice(0, -1).join(', ')} or ${kinds.at(-1)}`
  return { hint: `Remove it: it belongs to manifests of kind ${listed}.` }
}

function stepsOf(home: string): readonly string[] {
  return home === '' ? [] : home.replaceAll('[]', '').split('.')
}

function pathOf(home: string): Path {
  return stepsOf(home.replaceAll('[]', '.0')).map((step) => (step === '0' ? 0 : step))
}

function isTaken(home: string, name: string, { input }: Context): boolean {
  return !home.includes('[]') && valueAt(input, [...stepsOf(home), name]) !== undefined
}

function placeOf(home: string): string {
  if (home === '') return 'at the top of the manifest, without spaces before it'
  if (home.endsWith('[]')) return `into an item of ${home.slice(0, -2)}`
  return `under ${home}`
}

/** Of the places of a field the one for which least has to be added, and which is least far away. */
function nearestHome(name: string, { parent, context }: Unknown): string | undefined {
  const homes = homesOf(context.schema, name).filter(
    (home) => !home.endsWith('secretRef') && (!home.includes('[]') || isAround(home, parent)),
  )
  const costs = homes.map((home) => {
    const steps = stepsOf(home)
    const there = presentSteps(context.input, steps)
    const shared = steps.findIndex((step, index) => parent[index] !== step)
    const common = shared === -1 ? steps.length : shared
    const missing = steps.length - there
    const distance = parent.length - common + (steps.length - common)
    // Where something has to be added, rather to what is there than beside it.
    const cost = missing * 100 + distance * 10 - (missing === 0 ? 1 : 15) * there
    return { home, cost: cost + (isTaken(home, name, context) ? 15 : 0) }
  })
  return costs.toSorted((a, b) => a.cost - b.cost)[0]?.home
}

/** Whether a path is within what holds the list of a home: to the items of a list far away nothing belongs that stands here. */
function isAround(home: string, parent: Path): boolean {
  return stepsOf(home.slice(0, home.indexOf('[]')))
    .slice(0, -1)
    .every((step, index) => parent[index] === step)
}

function presentSteps(input: unknown, steps: readonly string[]): number {
  const missing = steps.findIndex((_, index) => valueAt(input, steps.slice(0, index + 1)) === undefined)
  return missing === -1 ? steps.length : missing
}

function remove(unknown: Unknown): Advice {
  const { known } = unknown
  const kinds = kindsInstead(unknown)
  if (kinds !== undefined) return kinds
  if (known.length === 0) return { hint: 'Remove it.' }
  return {
    hint: `Remove it; known are ${known.slice(0, 15).join(', ')}${known.length > 15 ? ', …' : ''}.`,
  }
}
