import * as fc from 'fast-check'
import { showName } from '../../src/kinds/difference.ts'
import type { Field, Fields } from '../../src/kinds/field-table.ts'
import type { LeafForm } from '../../src/kinds/leaf-forms.ts'
import type { Json, JsonObject } from '../../src/lib/json.ts'

/** A value, another way to write the same, and a value that means something else. */
interface Variants {
  readonly value: Json
  readonly same: Json | undefined
  readonly other: Json
  /** Where a manifest cannot write it as a platform may: as it is. */
  readonly rewritten?: Json
}

const word = fc.stringMatching(/^[a-zA-Z0-9][a-zA-Z0-9 _./-]{0,8}[a-zA-Z0-9]$/)
const anyText = fc.oneof(word, fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' }), fc.constant('5'))
/** A stream of numbers by chance, told by one seed: quick to make and to shrink. */
const chances = fc.nat().map((seed): Chance => {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % below
  }
})

type Chance = (below: number) => number

const words = fc.uniqueArray(word, { minLength: 1, maxLength: 5 })
const absent = fc.constantFrom<Json | undefined>(null, undefined, [], {})

/** For each form: a value, disguised and changed. `added` is no member of any generated list. */
const ADDED = '~added'

const ordinary = anyText.map((value) => ({ value, same: value, other: `${value}!` }))

const LEAVES: Readonly<Record<LeafForm, fc.Arbitrary<Variants>>> = {
  text: ordinary,
  block: ordinary,
  lines: ordinary,
  raw: ordinary,
  foreign: ordinary,
  boolean: fc.boolean().map((value) => ({ value, same: value, other: !value })),
  flag: fc.boolean().map((value) => ({
    value,
    same: value ? true : undefined,
    other: !value,
    rewritten: value,
  })),
  number: fc
    .tuple(fc.oneof(fc.nat(), fc.constant(0.5), fc.constant(Number.MAX_SAFE_INTEGER - 1)), fc.nat(3))
    .map(([value, way]) => ({
      value,
      same: [value, String(value), ` ${value}`, `+${value}`][way],
      other: String(value + 1),
    })),
  offset: fc.nat(1_439).map((value) => ({
    value,
    same: value === 0 ? undefined : String(value),
    other: value + 1,
    rewritten: value,
  })),
  millicores: fc.tuple(fc.integer({ min: 125, max: 2_000 }), fc.nat(3)).map(([value, way]) => ({
    value,
    same: [value, String(value), `${value}m`, String(value / 1_000)][way],
    other: `${value + 1}m`,
  })),
  gibibytes: fc.tuple(fc.integer({ min: 1, max: 16 }), fc.nat(4)).map(([halves, way]) => {
    const value = halves / 2
    return {
      value,
      same: [value, String(value), `${value}Gi`, `${value * 1_024}Mi`, String(value * 1_073_741_824)][way],
      other: `${value * 1_024 + 1}Mi`,
    }
  }),
  engine: fc.tuple(fc.constantFrom('MergeTree', 'Null'), fc.nat(3)).map(([value, way]) => ({
    value,
    same: [value, `${value}()`, `${value}(a, b)`, `${value} ()`][way],
    other: `Replacing${value}`,
  })),
  address: fc.tuple(fc.constantFrom('mongodb://', 'mongodb+srv://'), fc.nat(3)).map(([scheme, way]) => ({
    value: `${scheme}u@a:1,b:2/d`,
    same: [`${scheme}u@`, scheme, `${scheme}[REDACTED]@`, `${scheme}[REDACTED:@]@`].map(
      (begin) => `${begin}a:1,b:2/d`,
    )[way],
    other: `${scheme}u@a:1,c:2/d`,
  })),
  set: fc.oneof(
    fc.tuple(words, chances).map(([value, chance]) => ({
      value,
      same: [...shuffled(value, chance), value[0] ?? ''],
      other: [...value, ADDED],
    })),
    absent.map((same) => ({ value: [], same, other: [ADDED] })),
  ),
  'comma-list': fc.oneof(
    fc.tuple(words, chances).map(([value, chance]) => ({
      value: value.join(','),
      same: `${shuffled(value, chance).join(' , ')},`,
      other: [...value.slice(1), ADDED].join(','),
    })),
    fc.constantFrom<Json | undefined>('', null, ',').map((same) => ({ value: '', same, other: ADDED })),
  ),
  ordered: fc.oneof(
    words.map((value) => ({ value, same: value, other: [ADDED, ...value] })),
    absent.map((same) => ({ value: [], same, other: [ADDED] })),
  ),
  certificate: words.map((lines) => ({
    value: lines.join('\n'),
    same: `\r\n  ${lines.join('\r\n')}\r\n`,
    other: `${lines.join('\n')}\n${ADDED}`,
  })),
  minute: fc.tuple(fc.integer({ min: 0, max: 60_000_000 }), fc.nat(2)).map(([minutes, way]) => {
    const bare = isoOf(minutes * 60)
    return {
      value: bare.slice(0, 16),
      same: [bare, `${bare}Z`, bare.slice(0, 16)][way],
      other: isoOf(minutes * 60 + 60),
    }
  }),
  zoned: fc.tuple(seconds(), fc.nat(1)).map(([at, way]) => ({
    value: `${isoOf(at)}Z`,
    same: [`${isoOf(at + 5_400)}+01:30`, isoOf(at)][way],
    other: `${isoOf(at + 1)}Z`,
  })),
  time: fc.tuple(seconds(), fc.nat(5)).map(([at, way]) => {
    const bare = isoOf(at)
    const local = isoOf(at + 5_400)
    return {
      value: bare,
      same: [bare, `${bare}Z`, `${bare}.000Z`, bare.replace('T', ' '), `${local}+01:30`, `${local}+0130`][
        way
      ],
      other: `${isoOf(at + 1)}Z`,
    }
  }),
  'unix-time': fc.tuple(seconds(), fc.nat(3)).map(([value, way]) => ({
    value,
    same: [value, String(value), `${isoOf(value)}Z`, isoOf(value)][way],
    other: value + 1,
  })),
}

function seconds(): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 4_000_000_000 })
}

function isoOf(at: number): string {
  return new Date(at * 1_000).toISOString().slice(0, 19)
}

function shuffled<T>(items: readonly T[], chance: Chance): readonly T[] {
  const left = [...items]
  const out: T[] = []
  while (left.length > 0) out.push(...left.splice(chance(left.length), 1))
  return out
}

/** One change of one field: the body with it, and the path that has to be named. */
interface Change {
  readonly field: string
  readonly body: JsonObject
  /** The body itself with it, and with nothing else. */
  readonly alone: JsonObject
  readonly returned: boolean
}

/** A body, the same body as a platform might return it, and that reply with each one field changed. */
export interface Bodies {
  readonly body: JsonObject
  readonly same: JsonObject
  /** The same body as a person might write it just as well: nothing unknown in it, nothing left out. */
  readonly rewritten: JsonObject
  readonly changes: readonly Change[]
}

/** Bodies with a random choice of the fields of a table. */
export function bodies(fields: Fields): fc.Arbitrary<Bodies> {
  return objectBodies(fields, '', { whole: [] })
}

interface Limits {
  /** Fields that are always set, and never changed: the key of an item. */
  readonly whole: readonly string[]
}

function objectBodies(fields: Fields, prefix: string, { whole }: Limits): fc.Arbitrary<Bodies> {
  const members = Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [name, memberBodies(field, `${prefix}${name}`)]),
  )
  return fc.tuple(fc.record(members, { requiredKeys: [...whole] }), chances).map(([chosen, chance]) => {
    const parts = Object.entries(chosen)
    const body = Object.fromEntries(parts.map(([name, part]) => [name, part.value]))
    const noise = { [`unknown${chance(1_000)}`]: { a: ['b'] } }
    const rest = Object.keys(fields).filter((name) => !(name in chosen))
    const nulls = Object.fromEntries(rest.map((name) => [name, null]))
    const same = {
      ...noise,
      ...nulls,
      ...Object.fromEntries(
        shuffled(parts, chance).flatMap(([name, part]) =>
          part.same === undefined ? [] : [[name, part.same]],
        ),
      ),
    }
    const rewritten = Object.fromEntries(
      shuffled(parts, chance).map(([name, part]) => [name, part.rewritten ?? null]),
    )
    const changes = parts
      .filter(([name]) => !whole.includes(name))
      .flatMap(([name, part]) =>
        part.changes.map((change) => ({
          field: change.field,
          returned: change.returned,
          body: { ...same, [name]: change.value },
          alone: { ...body, [name]: change.alone },
        })),
      )
    return { body, same, rewritten, changes }
  })
}

interface MemberBodies {
  readonly value: Json
  readonly same: Json | undefined
  readonly rewritten: Json | undefined
  readonly changes: readonly {
    readonly field: string
    readonly value: Json
    readonly alone: Json
    readonly returned: boolean
  }[]
}

function memberBodies(field: Field, path: string): fc.Arbitrary<MemberBodies> {
  const always: Field = { ...field, returned: 'always' }
  if (field.returned === 'never') {
    return fc.tuple(memberBodies(always, path), fc.constantFrom(null, 'echo')).map(([part, same]) => ({
      ...part,
      same,
      changes: part.changes.map((change) => ({ ...change, returned: false })),
    }))
  }
  if (field.returned === 'at times') {
    return fc
      .tuple(memberBodies(always, path), fc.constantFrom('as it is', null, '', undefined))
      .map(([part, same]) => ({ ...part, same: same === 'as it is' ? part.same : same }))
  }
  if (field.form !== undefined) {
    return LEAVES[field.form].map(({ value, same, other, rewritten = same }) => ({
      value,
      same,
      rewritten,
      changes: [{ field: path, value: other, alone: other, returned: true }],
    }))
  }
  if (field.keyedBy !== undefined) return recordsBodies(field.keyedBy, field.fields, path)
  return objectBodies(field.fields, `${path}.`, { whole: [] }).map(({ body, changes, ...others }) => ({
    ...others,
    value: body,
    changes: changes.map((change) => ({ ...change, value: change.body })),
  }))
}

function recordsBodies(keyedBy: readonly string[], fields: Fields, path: string): fc.Arbitrary<MemberBodies> {
  const item = objectBodies(fields, '', { whole: keyedBy })
  const keyOfItem = ({ body }: Bodies) =>
    showName(keyedBy.map((name) => (typeof body[name] === 'string' ? body[name] : '')).join('.'))
  return fc
    .tuple(fc.uniqueArray(item, { maxLength: 4, selector: keyOfItem }), chances, absent)
    .map(([items, chance, none]) => {
      const same = shuffled(items, chance).map((part) => part.same)
      const changes = items.flatMap((part) => {
        const rest = items.filter((other) => other !== part)
        const others = rest.map((other) => other.same)
        const bare = rest.map((other) => other.body)
        return [
          { field: `${path}[`, value: others, alone: bare, returned: true },
          ...part.changes.map((change) => ({
            field: `${path}[${keyOfItem(part)}].${change.field}`,
            value: [...others, change.body],
            alone: [...bare, change.alone],
            returned: true,
          })),
        ]
      })
      const extra = Object.fromEntries(keyedBy.map((name) => [name, ADDED]))
      return {
        value: items.map((part) => part.body),
        same: items.length === 0 ? none : same,
        rewritten: shuffled(items, chance).map((part) => part.rewritten),
        changes: [
          ...changes,
          {
            field: `${path}[`,
            value: [...same, extra],
            alone: [...items.map((part) => part.body), extra],
            returned: true,
          },
        ],
      }
    })
}
