import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import {
  ALL_METRICS,
  type METRICS,
  PREFIX,
  STATE_METRICS,
  type MetricDefinition,
  type MetricName,
} from './metric-definitions.ts'

type Definition<N extends MetricName> = (typeof METRICS)[N]
type LabelsOf<N extends MetricName> = keyof Definition<N>['labels'] & string

type Instrument<N extends MetricName> = Definition<N>['type'] extends 'counter'
  ? Counter<LabelsOf<N>>
  : Definition<N>['type'] extends 'gauge'
    ? Gauge<LabelsOf<N>>
    : Histogram<LabelsOf<N>>

/** One instrument for each definition, under its name. */
export type Instruments = { readonly [N in MetricName]: Instrument<N> } & {
  /** The states of each kind whose replies have one, by the name of the kind. */
  readonly states: ReadonlyMap<string, Gauge<'name' | 'state'>>
}

/** Registers every metric; each known combination of label values stands at 0. */
export function createInstruments(registry: Registry): Instruments {
  const made = Object.fromEntries(
    Object.entries(ALL_METRICS).map(([name, definition]) => [
      name,
      createInstrument(registry, name, definition),
    ]),
  )
  const states = new Map(Object.entries(STATE_METRICS).map(([kind, name]) => [kind, made[name]]))
  return { ...made, states } as unknown as Instruments // made from the same table, name by name
}

function createInstrument(registry: Registry, name: string, definition: MetricDefinition) {
  const config = {
    name: PREFIX + name,
    help: definition.help,
    labelNames: Object.keys(definition.labels),
    registers: [registry],
  }
  const known = combinations(Object.entries(definition.labels))
  if (definition.type === 'counter') {
    const counter = new Counter(config)
    for (const labels of known) counter.inc(labels, 0)
    return counter
  }
  if (definition.type === 'gauge') {
    const gauge = new Gauge(config)
    for (const labels of known) gauge.set(labels, 0)
    return gauge
  }
  const histogram = new Histogram({ ...config, buckets: [...(definition.buckets ?? [])] })
  for (const labels of known) histogram.zero(labels)
  return histogram
}

type LabelValues = Readonly<Record<string, string>>

/** Every combination of known label values; none when one of the labels is open. */
function combinations(labels: readonly (readonly [string, readonly string[] | 'open'])[]): LabelValues[] {
  return labels.reduce<LabelValues[]>(
    (before, [name, values]) =>
      values === 'open' ? [] : before.flatMap((some) => values.map((value) => ({ ...some, [name]: value }))),
    [{}],
  )
}
