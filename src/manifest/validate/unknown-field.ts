import type { z } from 'zod'
import type { Profile } from '../../kinds/profile.ts'
import { PROFILES } from '../../kinds/profiles/profiles.ts'
import { isObject, valueAt } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import { errorStatement, type Path, type ShapeFinding } from '../diagnostics/diagnostic.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import { documentWords, pathWords, quote, type Context } from './shape.ts'

export function unknownFields(
  parent: Path,
  names: readonly string[],
  context: Context,
): readonly ShapeFinding[] {
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

export const NO_MERGE = 'The YAML merge key "<<" is not supported. Write the fields themselves.'

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

export function formatOf(schema: z.ZodType, path: Path): string | undefined {
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
