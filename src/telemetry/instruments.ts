import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { ACTION_TYPES } from '../plan/action.ts'
import {
  ALL_METRICS,
  type METRICS,
  PREFIX,
  STATE_METRICS,
  type MetricDefinition,
  type MetricName,
  OTHER,
} from './metric-definitions.ts'

type Definition<N extends MetricName> = (typeof METRICS)[N]
type LabelsOf<N extends MetricName> = keyof Definition<N>['labels'] & string

type Instrument<N extends MetricName> = Definition<N>['type'] extends 'counter'
  ? Counter<LabelsOf<N>>
  : Definition<N>['type'] extends 'gauge'
    ? Gauge<LabelsOf<N>>
    : Histogram<LabelsOf<N>>

/** One instrument for each definition, under its name. */
export type Instruments = { readonly [N in Exclude<MetricName, 'pipes_without_manifest'>]: Instrument<N> } & {
  /** Undefined: the platform does not list its pipes. */
  readonly pipes_without_manifest: Instrument<'pipes_without_manifest'> | undefined
  /** The states of each kind whose replies have one, by the name of the kind. */
  readonly states: ReadonlyMap<string, Gauge<'name' | 'state'>>
}

/** Registers every metric; each known combination of label values stands at 0. */
export function createInstruments(registry: Registry, operations: readonly string[]): Instruments {
  const made = Object.fromEntries(
    metricsOf(operations).map(([name, definition]) => [
      name,
      createInstrument(registry, name, definition, labelValues(definition, operations)),
    ]),
  )
  const states = new Map(Object.entries(STATE_METRICS).map(([kind, name]) => [kind, made[name]]))
  return { ...made, states } as unknown as Instruments // made from the same table, name by name
}

/** Those of a platform that is asked for these. */
function metricsOf(operations: readonly string[]): readonly (readonly [string, MetricDefinition])[] {
  return Object.entries(ALL_METRICS).filter(
    ([, { onlyWith }]) => onlyWith === undefined || operations.includes(onlyWith),
  )
}

type LabelValues = Readonly<Record<string, readonly string[] | 'open'>>

/** The values of each label that are known beforehand. @param operations names of those that the platform is asked for */
export function labelValues({ labels }: MetricDefinition, operations: readonly string[]): LabelValues {
  return Object.fromEntries(
    Object.entries(labels).map(([name, values]) => [
      name,
      values === 'operations' ? operations : offered(values),
    ]),
  )

  /** Nothing is ever updated where there is no request for that. */
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

/** Every combination of known label values; none when one of the labels is open. */
function combinations(labels: readonly (readonly [string, readonly string[] | 'open'])[]): Labels[] {
  return labels.reduce<Labels[]>(
    (before, [name, values]) =>
      values === 'open' ? [] : before.flatMap((some) => values.map((value) => ({ ...some, [name]: value }))),
    [{}],
  )
}

/** Longest label value, in UTF-16 code units. */
const LONGEST = 253

/** Says which of unboundedly many values may be label values, a bounded number of them at a time. */
export interface LabelBound {
  /** Takes a place for the value when there is room. Whoever has a place keeps it. */
  admits(value: string): boolean
  /** Frees the places of values that are no longer there. */
  retain(values: ReadonlySet<string>): void
}

/** At most `limit` different values at a time, first come, first served. */
export function boundLabels(limit: number): LabelBound {
  const placed = new Set<string>()
  return {
    admits(value) {
      if (placed.size < limit) placed.add(value)
      return placed.has(value)
    },
    retain(values) {
      for (const value of placed) {
        if (!values.has(value)) placed.delete(value)
      }
    },
  }
}

/** The value as a label, of bounded length; `_other` when the bound has no room for it. */
export function boundedLabel(value: string, bound: LabelBound): string {
  return bound.admits(value) ? value.slice(0, LONGEST).toWellFormed() : OTHER
}
