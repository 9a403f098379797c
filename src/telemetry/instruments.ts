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

type MetricName = keyof typeof METRICS
type Definition<N extends MetricName> = (typeof METRICS)[N]
type LabelsOf<N extends MetricName> = keyof Definition<N>['labels'] & string

type Instrument<N extends MetricName> = Definition<N>['type'] extends 'counter'
  ? Counter<LabelsOf<N>>
  : Definition<N>['type'] extends 'gauge'
    ? Gauge<LabelsOf<N>>
    : Histogram<LabelsOf<N>>

export type Instruments = { readonly [N in Exclude<MetricName, 'pipes_without_manifest'>]: Instrument<N> } & {
  readonly pipes_without_manifest: Instrument<'pipes_without_manifest'> | undefined
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
  definition: MetricDefinition,
  labels: LabelValues,
) {
  const config = {
    name: PREFIX + name,
    help: definition.help,
    labelNames: Object.keys(labels),
    registers: [registry],
  }
  const known = combinations(Object.entries(labels))
  if (definition.type === 'counter') {
    const counter = new Counter(config)
    for (const values of known) counter.inc(values, 0)
    return counter
  }
  if (definition.type === 'gauge') {
    const gauge = new Gauge(config)
    for (const values of known) gauge.set(values, 0)
    return gauge
  }
  const histogram = new Histogram({ ...config, buckets: [...(definition.buckets ?? [])] })
  for (const values of known) histogram.zero(values)
  return histogram
}

type Labels = Readonly<Record<string, string>>

function combinations(labels: readonly (readonly [string, readonly string[] | 'open'])[]): Labels[] {
  return labels.reduce<Labels[]>(
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
    admits(value: string) {
      if (placed.size < limit) placed.add(value)
      return placed.has(value)
    },
    retain(values: ReadonlySet<string>) {
      for (const value of placed) {
        if (!values.has(value)) placed.delete(value)
      }
    },
  }
}

export function boundedLabel(value: string, bound: LabelBound): string {
  return bound.admits(value) ? value.slice(0, LONGEST).toWellFormed() : OTHER
}
