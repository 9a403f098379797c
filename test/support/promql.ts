/*
 * As much of PromQL as it takes to know which metrics, labels and label values a query is about. Prometheus itself says
 * whether the query is one (test/slow); this says whether what it names is exported.
 */

interface Matcher {
  readonly label: string
  readonly operator: '=' | '!=' | '=~' | '!~'
  readonly value: string
}

interface Selector {
  readonly metric: string
  readonly matchers: readonly Matcher[]
}

interface Named {
  readonly selectors: readonly Selector[]
  /** In `by (…)`, `without (…)`, `on (…)`, `ignoring (…)`. */
  readonly grouping: readonly string[]
}

/** Metrics that a scrape shows: name → label → values. */
export type Exported = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>

/** Labels that Prometheus puts on every series of a target. */
const OF_TARGET: ReadonlySet<string> = new Set(['job', 'instance', 'namespace', 'container', 'pod', 'node'])

/** What others export, and its labels: Prometheus itself, git-sync, the kubelet. */
const OF_OTHERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['up', []],
  ['git_sync_count_total', ['status']],
  ['kubelet_volume_stats_available_bytes', ['persistentvolumeclaim']],
  ['kubelet_volume_stats_capacity_bytes', ['persistentvolumeclaim']],
])

/** Labels of which another metric has every value from the start. */
const SHOWN_BY: ReadonlyMap<string, string> = new Map([
  ['pipewright_resource_info status', 'pipewright_resources'],
  ['pipewright_resource_info reason', 'pipewright_resource_reasons'],
])

const WORDS: ReadonlySet<string> = new Set([
  'and',
  'or',
  'unless',
  'offset',
  'bool',
  'on',
  'by',
  'without',
  'ignoring',
])
const GROUPING = /\b(?:by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g

/** Metrics of a query that it does not take of this job, or of the volume of this claim, alone. */
export function ofEveryJob(query: string, job: string, claim: string): readonly string[] {
  const scope = new Map([
    ['job', job],
    ['persistentvolumeclaim', claim],
  ])
  return namedIn(query)
    .selectors.filter(
      ({ matchers }) =>
        !matchers.some(({ label, operator, value }) => operator === '=' && scope.get(label) === value),
    )
    .map(({ metric }) => metric)
}

/** Splits a query, in which no label value holds `}` or a quote. */
function namedIn(query: string): Named {
  const grouping = [...query.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.match(/\w+/g) ?? [])
  const rest = query.replaceAll(GROUPING, ' ').replaceAll(/\[[^\]]*\]/g, ' ')
  const selectors = [
    ...rest.matchAll(/(?<![\w:.$])([a-zA-Z_:][\w:]*)\b(?!\s*\()(?:\s*\{([^}]*)\})?/g),
  ].flatMap(([, metric = '', matchers = '']) =>
    WORDS.has(metric) ? [] : [{ metric, matchers: matchersIn(matchers) }],
  )
  return { selectors, grouping }
}

function matchersIn(text: string): readonly Matcher[] {
  return [...text.matchAll(/(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g)].map(
    ([, label = '', operator, value = '']) => ({
      label,
      operator: operator as Matcher['operator'], // one of the four of the expression
      value,
    }),
  )
}

/** The series in the text of a scrape. */
export function exportedIn(scrape: string): Exported {
  const exported = new Map<string, Map<string, Set<string>>>()
  for (const [, metric = '', labels = ''] of scrape.matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+$/gm)) {
    const known = exported.get(metric) ?? new Map<string, Set<string>>()
    exported.set(metric, known)
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value))
    }
  }
  return exported
}

/** What a query names that is not exported, in words. Values with a `$` are variables, and told at run time. */
export function notExported(query: string, exported: Exported): readonly string[] {
  const { selectors, grouping } = namedIn(query)
  if (selectors.length === 0) return [`no metric in ${query}`]
  const labels = labelsOf(query, exported)
  return [
    ...selectors.flatMap((selector) => missingIn(selector, exported)),
    ...grouping
      .filter((label) => !labels.has(label))
      .map((label) => `no label ${label} to group by in ${query}`),
  ]
}

function missingIn({ metric, matchers }: Selector, exported: Exported): readonly string[] {
  if (OF_OTHERS.has(metric)) return []
  const labels = exported.get(metric)
  if (labels === undefined) return [`no metric ${metric}`]
  return matchers.flatMap(({ label, operator, value }) => {
    if (OF_TARGET.has(label)) return []
    const values = exported.get(SHOWN_BY.get(`${metric} ${label}`) ?? metric)?.get(label)
    if (!labels.has(label) || values === undefined) return [`no label ${label} on ${metric}`]
    const asked = operator.endsWith('~') ? value.split('|') : [value]
    return asked
      .filter((one) => !one.includes('$') && !values.has(one))
      .map((one) => `no ${metric} with ${label}="${one}"`)
  })
}

/** Labels that the series of a query may carry, as far as is known without running it. */
export function labelsOf(query: string, exported: Exported): ReadonlySet<string> {
  const { selectors } = namedIn(query)
  return new Set([
    ...OF_TARGET,
    ...selectors.flatMap(({ metric }) => OF_OTHERS.get(metric) ?? [...(exported.get(metric)?.keys() ?? [])]),
  ])
}
