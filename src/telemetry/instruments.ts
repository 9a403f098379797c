import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { ACTION_TYPES } from '../plan/action.ts'
import {
  ALL_METRICS,
  type METRICS,
  PREFIX,
  STATE_METRICS,
  type MetricDefinition,
  OTHER,
} from './metric-definitions.ts'

type InstrumentOf<Definition> =
  Definition extends MetricDefinition<'counter', infer Labels>
    ? Counter<keyof Labels & string>
    : Definition extends MetricDefinition<'gauge', infer Labels>
      ? Gauge<keyof Labels & string>
      : Definition extends MetricDefinition<'histogram', infer Labels>
        ? Histogram<keyof Labels & string>
        : never

type Definitions = typeof METRICS

export type Instruments = {
  readonly [N in Exclude<keyof Definitions, 'pipes_without_manifest'>]: InstrumentOf<Definitions[N]>
} & {
  readonly pipes_without_manifest: Gauge<'service_name'> | undefined
  readonly states: ReadonlyMap<string, Gauge<'name' | 'state'>>
}

/** Series whose label values are all known start at 0. */
export function createInstruments(registry: Registry, operations: readonly string[]): Instruments {
  const made = Object.fromEntries(
    Object.entries(ALL_METRICS)
      .filter(([, { onlyWith }]) => onlyWith === undefined || operations.includes(onlyWith))
      .map(([name, definition]) => [
        name,
        createInstrument(registry, name, definition, labelValues(definition, operations)),
      ]),
  )
  const states = new Map(Object.entries(STATE_METRICS).map(([kind, name]) => [kind, made[name]]))
  return { ...made, states } as unknown as Instruments // the names come from the same table
}

type LabelValues = Readonly<Record<string, readonly string[] | 'open'>>

export function labelValues({ labels }: MetricDefinition, operations: readonly string[]): LabelValues {
  return Object.fromEntries(
    Object.entries(labels).map(([name, values]) => [
      name,
      values === 'operations' ? operations : offered(values),
    ]),
  )

  function offered(values: readonly string[] | 'open'): readonly string[] | 'open' {
    if (values !== ACTION_TYPES || operations.some((name) => name.startsWith('update'))) return values
    return values.filter((value) => value !== 'update')
  }
}

function createInstrument(
  registry: Registry,
  name: string,
  { type, help, buckets = [] }: MetricDefinition,
  labels: LabelValues,
) {
  const config = { name: PREFIX + name, help, labelNames: Object.keys(labels), registers: [registry] }
  const instrument =
    type === 'histogram'
      ? new Histogram({ ...config, buckets: [...buckets] })
      : new (type === 'counter' ? Counter : Gauge)(config)
  for (const values of combinations(Object.entries(labels))) {
    if (instrument instanceof Histogram) instrument.zero(values)
    else instrument.inc(values, 0)
  }
  return instrument
}

function combinations(
  labels: readonly (readonly [string, readonly string[] | 'open'])[],
): Record<string, string>[] {
  return labels.reduce<Record<string, string>[]>(
    (before, [name, values]) =>
      values === 'open' ? [] : before.flatMap((some) => values.map((value) => ({ ...some, [name]: value }))),
    [{}],
  )
}

const LONGEST = 253

export type LabelBound = ReturnType<typeof boundLabels>

export function boundLabels(limit: number) {
  const placed = new Set<string>()
  return {
    /** @returns `shown`, or the label of all values above the limit */
    label(value: string, shown = value) {
      if (placed.size < limit) placed.add(value)
      return placed.has(value) ? shown.slice(0, LONGEST).toWellFormed() : OTHER
    },
    retain(values: readonly string[]) {
      for (const value of placed.difference(new Set(values))) placed.delete(value)
    },
  }
}
