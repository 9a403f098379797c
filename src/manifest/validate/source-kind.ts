import { knownFields } from './known-fields.ts'
import { valueAt, type Advice, type Unknown } from './shape.ts'

/* Fields that may not stand in the source of a pipe, of which the kind is a field and not a value. */

/** What others call the kinds of a source. */
const KINDS_OTHERWISE: Readonly<Record<string, string>> = {
  s3: 'objectStorage',
  gcs: 'objectStorage',
  azure: 'objectStorage',
  azureblobstorage: 'objectStorage',
  kinesis: 'managedStream',
  postgresql: 'postgres',
}

/** The source of a pipe, in which the kind is a field and not a value. */
function isInSource({ parent }: Unknown): boolean {
  return parent.join('.') === 'spec.source'
}

function kindsIn({ parent, known, context }: Unknown): readonly string[] {
  return known.filter((field) => knownFields(context.schema, [...parent, field]).length > 0)
}

function isThere({ parent, context }: Unknown, field: string): boolean {
  return valueAt(context.input, [...parent, field]) !== undefined
}

/** `type: kafka`, or a kind under the name that others give it. */
export function ofSource(unknown: Unknown): Advice | undefined {
  if (!isInSource(unknown)) return undefined
  const { parent, name, context } = unknown
  const kinds = kindsIn(unknown)
  const kindOf = (text: unknown) =>
    typeof text === 'string' && text.length <= 64
      ? kinds.find((kind) => kind === text || kind === KINDS_OTHERWISE[text.toLowerCase()])
      : undefined
  const there = kinds.find((kind) => isThere(unknown, kind))
  const said = kindOf(valueAt(context.input, [...parent, name]))
  if (said !== undefined)
    return {
      hint:
        there === undefined
          ? `Write the kind itself as a field: ${said}: {…}.`
          : `Remove it: the field "${there}" says which kind it is.`,
    }
  const meant = kindOf(name)
  if (meant === undefined) return undefined
  return there === undefined
    ? { hint: `Write "${meant}": that is its name here.`, stands: [meant] }
    : { hint: `Remove it: the source is ${there} already, and a pipe has one.` }
}

/** For a field that is none in a source without a kind: to remove it would leave the source empty. */
export function kindsInstead(unknown: Unknown): Advice | undefined {
  if (!isInSource(unknown)) return undefined
  const kinds = kindsIn(unknown)
  if (kinds.some((kind) => isThere(unknown, kind))) return undefined
  return { hint: `Write one of the source kinds in its place: ${kinds.join(', ')}.` }
}
