import { isObject } from '../../lib/json.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Path } from '../diagnostics/diagnostic.ts'
import { looksLikeToken, looksSensitive } from '../diagnostics/mask-lines.ts'
import { allFields, homesOf, knownFields } from './known-fields.ts'
import { valueAt, type Context, type ShapeFinding } from './shape.ts'
import { nameOf, quote } from './shape-words.ts'

/** A field at a place where the schema does not have it. */
interface Unknown {
  readonly parent: Path
  readonly name: string
  /** The fields that the schema has there. */
  readonly known: readonly string[]
  readonly context: Context
}

/** A hint, and the field of the same place that was meant: it does not count as missing. */
interface Advice {
  readonly hint: string
  readonly meant?: string
}

/** Longer names get no suggestion. */
const MAX_NAME_LENGTH = 200

/** One finding for each field, with its nearest name or the place where it belongs. */
export function unknownFields(
  parent: Path,
  names: readonly string[],
  context: Context,
): readonly ShapeFinding[] {
  const known = knownFields(context.schema, parent)
  return names.map((name) => {
    const isShown = !looksLikeToken(name) && !parent.some((step) => looksSensitive(String(step)))
    const where = parent.length === 0 ? 'at the top of a manifest' : `in ${nameOf(parent)}`
    const message = `There is no ${isShown ? `field ${quote(name)}` : 'such field'} ${where}.`
    const { hint, meant } = adviceOn({ parent, name, known, context })
    return {
      at: 'field',
      path: [...parent, name],
      statement: { severity: 'error', code: 'unknown-field', message, hint },
      stands: meant === undefined ? [] : [[...parent, meant]],
    }
  })
}

function adviceOn(unknown: Unknown): Advice {
  const { name, known } = unknown
  if (name === '<<') return { hint: 'YAML merge keys are not supported; write the fields out.' }
  if (unknown.parent.join('.') === 'policy' && (name === 'onRemove' || name === 'ensure'))
    return {
      hint: known.includes('ensure')
        ? 'Remove it. To delete the resource, write policy.ensure: absent while the manifest is there.'
        : 'Remove it: with this profile, nothing of this kind is deleted.',
    }
  if (known.includes('secretRef'))
    return {
      hint: 'Write secretRef: {name: …, key: …}, with the name of the mounted secret.',
      meant: 'secretRef',
    }
  const advice = name.length > MAX_NAME_LENGTH ? undefined : (misspelt(unknown) ?? elsewhere(unknown))
  if (advice !== undefined) return advice
  if (known.length === 0) return { hint: 'Remove it.' }
  return { hint: `Remove it; known are ${known.slice(0, 15).join(', ')}${known.length > 15 ? ', …' : ''}.` }
}

function misspelt({ parent, name, known, context }: Unknown): Advice | undefined {
  const around = valueAt(context.input, parent)
  const free = known.filter((field) => !(isObject(around) && Object.hasOwn(around, field)))
  const meant =
    nearest(name, free) ??
    free.find((field) => name.length >= 3 && field.toLowerCase().startsWith(name.toLowerCase()))
  const isOfOtherLevel = levelsOf(name, context).some((home) => !isTaken(home, name, context))
  return meant === undefined || isOfOtherLevel ? undefined : { hint: `Did you mean "${meant}"?`, meant }
}

/** The field belongs to another level of this manifest, or to another kind. */
function elsewhere({ name, context }: Unknown): Advice | undefined {
  const levels = levelsOf(name, context)
  const [level] = levels
  if (level !== undefined)
    return {
      hint: isTaken(level, name, context)
        ? `Remove it: ${level} has the field "${name}" already.`
        : `It belongs ${levels.slice(0, 3).map(placeOf).join(' or ')}.`,
    }
  const meant = nearest(name, allFields(context.schema))
  const [place] = meant === undefined ? [] : levelsOf(meant, context)
  if (meant !== undefined && place !== undefined && !isTaken(place, meant, context))
    return { hint: `Did you mean "${meant}"? It belongs ${placeOf(place)}.` }
  const kinds = context.profile.kinds
    .filter(({ schema }) => levelsOf(name, { schema, input: context.input }).length > 0)
    .map((kind) => kind.name)
  return kinds.length === 0
    ? undefined
    : { hint: `Remove it: it belongs to manifests of kind ${kinds.join(' or ')}.` }
}

/** The objects that can have the field. Those that the manifest has come alone if there are any. */
function levelsOf(name: string, { schema, input }: Pick<Context, 'schema' | 'input'>): readonly string[] {
  // A reference belongs to many fields, and an item of a list to none that is written elsewhere.
  const all = homesOf(schema, name).filter((home) => !home.endsWith('secretRef') && !home.includes('[]'))
  const present = all.filter((home) => isObject(valueAt(input, stepsOf(home))))
  return name === 'secretRef' ? [] : present.length > 0 ? present : all
}

function isTaken(home: string, name: string, { input }: Pick<Context, 'input'>): boolean {
  return valueAt(input, [...stepsOf(home), name]) !== undefined
}

function stepsOf(home: string): readonly string[] {
  return home === '' ? [] : home.split('.')
}

function placeOf(home: string): string {
  return home === '' ? 'at the top of the manifest, without spaces before it' : `under ${home}`
}
