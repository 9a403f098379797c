import { REASON_SAMPLES } from '../../docs/reason-samples.ts'
import { expect, test } from 'vitest'
import type { z } from 'zod'
import { causeOf, REASONS, stepsOf, type FactsOf, type Reason } from '../../src/plan/reason.ts'
import type { About } from '../../src/plan/step.ts'

/* The words and steps of each reason, for each fact that changes them. `vitest -u` writes them anew; read the difference. */

const PLAIN = {
  key: 'Pipe/orders',
  place: 'orders.yaml:3',
  service: 'analytics',
  pipeId: 'p-1',
  id: 'p-1',
  differences: [{ field: 'a.b', desired: '2', observed: '1' }],
} as const
const ABOUT: Readonly<Record<string, Partial<About>>> = {
  'nothing is known': {
    place: undefined,
    service: undefined,
    pipeId: undefined,
    id: undefined,
    differences: [],
  },
  'a name with a quote': { service: "it's" },
  'two differences': { differences: [...PLAIN.differences, ...PLAIN.differences] },
  'an odd value': { differences: [{ field: 'a', desired: 'x', observed: '- y' }] },
  'an odd field': { differences: [{ field: 'a[0]', desired: 'x', observed: 'y' }] },
  'an alert': { key: 'Alert/lag' },
  'a created alert': { key: 'Alert/lag', isWritten: true },
}

type Members = Readonly<Record<string, unknown>>
interface Schema extends Pick<z.ZodType, 'safeParse'> {
  readonly def: {
    readonly type: string
    readonly innerType: Schema
    readonly element: Schema
    readonly options: readonly Schema[]
    readonly shape: Readonly<Record<string, Schema>>
    readonly entries: Members
    readonly values: readonly unknown[]
  }
}

/** Some values of each form. */
function valuesOf(schema: Schema): readonly unknown[] {
  const { def } = schema
  switch (def.type) {
    case 'optional':
      return [...valuesOf(def.innerType), undefined]
    case 'readonly':
      return valuesOf(def.innerType)
    case 'union':
      return def.options.flatMap(valuesOf)
    case 'enum':
      return Object.values(def.entries)
    case 'literal':
      return def.values
    case 'boolean':
      return [true, false]
    case 'number':
      return [1, 0]
    case 'array': {
      const [one, two = one] = def.element.def.type === 'string' ? ['a', 'start'] : valuesOf(def.element)
      return [[one, two], []]
    }
    case 'object':
      return objectsOf(def.shape, {})
    case 'undefined':
      return [undefined]
    default:
      return def.type === 'string'
        ? ['x.']
        : ['Failed', 'Odd ', 'Pipe/a'].filter((text) => schema.safeParse(text).success)
  }
}

/** With few members and with all, and with each member changed. */
function objectsOf(shape: Readonly<Record<string, Schema>>, sample: Members): readonly Members[] {
  const members = Object.entries(shape).map(([name, schema]) => [name, schema, valuesOf(schema)] as const)
  const few = members.filter(([, { def }]) => def.type !== 'optional')
  const least = { ...Object.fromEntries(few.map(([name, , [value]]) => [name, value])), ...sample }
  const most = Object.fromEntries(members.map(([name, , [value]]) => [name, value]))
  const isChoice = ({ def }: Schema) => def.type === 'optional' || def.type === 'enum'
  return [
    least,
    ...members.flatMap(([name, , values]) => values.map((value) => ({ ...least, [name]: value }))),
    most,
    ...members.flatMap(([name, schema, values]) =>
      isChoice(schema) ? values.map((value) => ({ ...most, [name]: value })) : [],
    ),
  ]
}

const END = /(?<=[.?]) (?=[A-Z])/

/** The sentences of a reason, each with the facts that give it first. */
function textsOf(reason: Reason): readonly string[] {
  const sample = REASON_SAMPLES[reason]
  const schema = REASONS[reason].facts as unknown as Schema // as all of zod
  const { def } = schema
  const known = new Set<string>()
  const lines: string[] = []
  function note(title: string, facts: FactsOf<Reason>, about: Partial<About> = {}): void {
    const all = { ...PLAIN, ...about }
    const steps = stepsOf({ reason, facts }, all).map(
      ({ text, ...more }) => `- ${text} ${JSON.stringify(more)}`,
    )
    const isOld = facts === undefined && sample !== undefined
    const cause = isOld ? '' : causeOf({ reason, facts }, all.key)
    const said = [...cause.split(END), ...steps]
    const news = said.filter((text) => text !== '' && !known.has(text))
    for (const text of news) known.add(text)
    if (news.length > 0) lines.push(`${title}: ${news.join(' ')}`)
  }
  const isObject = schema.def.type === 'object'
  const all = isObject ? objectsOf(def.shape, sample as Members) : valuesOf(schema)
  for (const facts of all) note(`${reason} ${JSON.stringify(facts) ?? ''}`, facts as FactsOf<Reason>) // of its schema
  note(`${reason} of an old record`, undefined)
  for (const [name, about] of Object.entries(ABOUT)) note(`${reason}, ${name}`, sample, about)
  return lines
}

test('each reason has these words and steps', async () => {
  const lines = (Object.keys(REASONS) as readonly Reason[]).flatMap(textsOf) // the keys of an object literal
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot('reason-words.txt')
})
