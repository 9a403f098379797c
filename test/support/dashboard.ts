import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { ROOT } from './process.ts'

/*
 * What Grafana expects of a dashboard, as far as ours uses it: the classic JSON model
 * (https://grafana.com/docs/grafana/latest/dashboards/build-dashboards/view-dashboard-json-model/) and
 * kinds/dashboard in Grafana's sources. Strict: a misspelt option, which Grafana would silently drop, is an error.
 */

const DASHBOARD_FILE = join(ROOT, 'helm', 'dashboards', 'pipewright.json')

/** Never a data source of somebody's own: the variable at the top says which. */
const DataSource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal('${datasource}') })

const GridPos = z.strictObject({
  h: z.int().min(1),
  w: z.int().min(1).max(24),
  x: z.int().min(0).max(23),
  y: z.int().min(0),
})

const Target = z.strictObject({
  refId: z.string().regex(/^[A-Z]$/),
  datasource: DataSource,
  editorMode: z.literal('code'),
  expr: z.string().min(1),
  legendFormat: z.string().min(1),
  range: z.boolean(),
  instant: z.boolean(),
})

const Mapping = z.strictObject({
  type: z.literal('value'),
  options: z.record(z.string(), z.strictObject({ text: z.string(), color: z.string(), index: z.int() })),
})

const Thresholds = z.strictObject({
  mode: z.enum(['absolute', 'percentage']),
  // The first step is where everything begins, which JSON writes as null.
  steps: z.tuple(
    [z.strictObject({ color: z.string(), value: z.null() })],
    z.strictObject({ color: z.string(), value: z.number() }),
  ),
})

/** Ids of units in `packages/grafana-data/src/valueFormats/categories.ts`. */
const Unit = z.enum(['none', 'short', 's', 'bytes', 'percentunit', 'ops', 'reqps', 'wps'])

const FieldDefaults = z.strictObject({
  unit: Unit,
  min: z.number().optional(),
  thresholds: Thresholds,
  mappings: z.array(Mapping),
  color: z.strictObject({ mode: z.enum(['thresholds', 'palette-classic']) }),
  custom: z
    .strictObject({
      drawStyle: z.enum(['line', 'bars', 'points']),
      lineWidth: z.int().min(0).max(10),
      fillOpacity: z.int().min(0).max(100),
      showPoints: z.enum(['auto', 'never', 'always']),
      spanNulls: z.boolean(),
      stacking: z.strictObject({ mode: z.enum(['none', 'normal', 'percent']), group: z.string() }),
    })
    .optional(),
})

const common = { id: z.int().min(1), title: z.string().min(1), gridPos: GridPos }

const queried = {
  ...common,
  description: z.string().min(1),
  datasource: DataSource,
  targets: z.array(Target).min(1),
  fieldConfig: z.strictObject({ defaults: FieldDefaults, overrides: z.array(z.never()) }),
}

const Panel = z.discriminatedUnion('type', [
  z.strictObject({
    ...common,
    type: z.literal('row'),
    collapsed: z.literal(false),
    /** Only of a collapsed row. */
    panels: z.array(z.never()),
  }),
  z.strictObject({
    ...queried,
    type: z.literal('stat'),
    options: z.strictObject({
      reduceOptions: z.strictObject({
        values: z.boolean(),
        calcs: z.array(z.enum(['lastNotNull', 'last', 'mean', 'max'])).min(1),
        fields: z.string(),
      }),
      orientation: z.enum(['auto', 'horizontal', 'vertical']),
      textMode: z.enum(['auto', 'value', 'value_and_name', 'name', 'none']),
      colorMode: z.enum(['none', 'value', 'background', 'background_solid']),
      graphMode: z.enum(['none', 'area']),
      justifyMode: z.enum(['auto', 'center']),
      wideLayout: z.boolean(),
      showPercentChange: z.boolean(),
      percentChangeColorMode: z.enum(['standard', 'inverted', 'same_as_value']),
    }),
  }),
  z.strictObject({
    ...queried,
    type: z.literal('timeseries'),
    options: z.strictObject({
      legend: z.strictObject({
        displayMode: z.enum(['list', 'table', 'hidden']),
        placement: z.enum(['bottom', 'right']),
        showLegend: z.boolean(),
        calcs: z.array(z.string()),
      }),
      tooltip: z.strictObject({
        mode: z.enum(['single', 'multi', 'none']),
        sort: z.enum(['none', 'asc', 'desc']),
      }),
    }),
  }),
])

const hidden = {
  hide: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  skipUrlSync: z.boolean(),
  options: z.array(z.never()),
}

/** 1: when the dashboard is loaded, 2: also when the time range changes. */
const Refresh = z.union([z.literal(1), z.literal(2)])

const Variable = z.discriminatedUnion('type', [
  z.strictObject({
    ...hidden,
    type: z.literal('datasource'),
    name: z.string(),
    label: z.string(),
    query: z.literal('prometheus'),
    refresh: Refresh,
    regex: z.string(),
    multi: z.literal(false),
    includeAll: z.literal(false),
  }),
  z.strictObject({
    ...hidden,
    type: z.literal('query'),
    name: z.string(),
    label: z.string(),
    datasource: DataSource,
    definition: z.string(),
    query: z.strictObject({ query: z.string(), refId: z.literal('StandardVariableQuery') }),
    refresh: Refresh,
    regex: z.string(),
    sort: z.int().min(0).max(6),
    multi: z.literal(true),
    includeAll: z.literal(true),
    allValue: z.literal('.*'),
    current: z.strictObject({
      selected: z.boolean(),
      text: z.array(z.string()),
      value: z.tuple([z.literal('$__all')]),
    }),
  }),
])

const Annotation = z.strictObject({
  name: z.string(),
  datasource: DataSource,
  enable: z.boolean(),
  hide: z.boolean(),
  iconColor: z.string(),
  expr: z.string(),
  step: z.string(),
  titleFormat: z.string(),
  textFormat: z.string(),
  tagKeys: z.string(),
})

/** The model as of Grafana 10; newer ones bring it up to date when they read it. */
const Dashboard = z.strictObject({
  // Grafana gives the number; one that is set would overwrite whatever has it.
  id: z.null(),
  uid: z.string().regex(/^[a-zA-Z0-9_-]{1,40}$/),
  title: z.string().min(1),
  description: z.string(),
  tags: z.array(z.string()),
  timezone: z.enum(['browser', 'utc']),
  editable: z.boolean(),
  graphTooltip: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  fiscalYearStartMonth: z.int().min(0).max(11),
  liveNow: z.boolean(),
  weekStart: z.string(),
  schemaVersion: z.int().min(36).max(39),
  version: z.int().min(0),
  refresh: z.string().regex(/^\d+[smh]$/),
  time: z.strictObject({ from: z.string().regex(/^now-\d+[mhd]$/), to: z.literal('now') }),
  timepicker: z.strictObject({}),
  links: z.array(z.never()),
  annotations: z.strictObject({ list: z.array(Annotation) }),
  templating: z.strictObject({ list: z.array(Variable) }),
  panels: z.array(Panel).min(1),
})
export type Dashboard = z.infer<typeof Dashboard>

/** @throws {z.ZodError} when it is not what Grafana expects */
export function readDashboard(): Dashboard {
  return Dashboard.parse(JSON.parse(readFileSync(DASHBOARD_FILE, 'utf8')))
}

/** What is wrong with a dashboard beyond the shape of its parts, in words. */
export function dashboardFaults({ panels, templating }: Dashboard): readonly string[] {
  const variables = new Set(['__rate_interval', ...templating.list.map(({ name }) => name)])
  const ids = panels.map(({ id }) => id)
  const texts = queriesOf({ panels, templating }).map(({ query }) => query)
  const used = texts.flatMap((text) => [...text.matchAll(/\$\{?(\w+)/g)].map(([, name = '']) => name))
  return [
    ...ids.filter((id, index) => ids.indexOf(id) !== index).map((id) => `two panels with the id ${id}`),
    ...used.filter((name) => !variables.has(name)).map((name) => `no variable ${name}`),
    ...panels.flatMap((panel, index) => {
      const { x, w } = panel.gridPos
      const others = panels.slice(index + 1).filter((other) => overlap(panel.gridPos, other.gridPos))
      const refIds = panel.type === 'row' ? [] : panel.targets.map(({ refId }) => refId)
      return [
        ...(x + w > 24 ? [`"${panel.title}" is wider than the page`] : []),
        ...others.map((other) => `"${panel.title}" lies over "${other.title}"`),
        ...(new Set(refIds).size < refIds.length ? [`a refId of "${panel.title}" is used twice`] : []),
      ]
    }),
  ]
}

type Place = z.infer<typeof GridPos>

function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
}

/** One query of the dashboard, with its variables in it. */
export interface DashboardQuery {
  readonly title: string
  readonly query: string
  /** Labels that its legend names. */
  readonly legend: readonly string[]
}

export function queriesOf({
  panels,
  templating,
  annotations,
}: Pick<Dashboard, 'panels' | 'templating'> & Partial<Dashboard>): readonly DashboardQuery[] {
  return [
    ...panels.flatMap((panel) =>
      panel.type === 'row'
        ? []
        : panel.targets.map(({ expr, legendFormat }) => ({
            title: panel.title,
            query: expr,
            legend: labelsIn(legendFormat),
          })),
    ),
    ...templating.list.flatMap((variable) =>
      variable.type === 'query'
        ? [{ title: `variable ${variable.name}`, ...labelValuesQuery(variable.query.query) }]
        : [],
    ),
    ...(annotations?.list ?? []).map(({ name, expr, textFormat }) => ({
      title: `annotation ${name}`,
      query: expr,
      legend: labelsIn(textFormat),
    })),
  ]
}

/** In a text such as `{{kind}}/{{name}}`. */
function labelsIn(text: string): readonly string[] {
  return [...text.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
}

/** `label_values(metric, label)` is a function of Grafana's, which asks for the series of the metric. */
function labelValuesQuery(text: string): Pick<DashboardQuery, 'query' | 'legend'> {
  const [, query, label] = /^label_values\((.+), (\w+)\)$/.exec(text) ?? []
  if (query === undefined || label === undefined) throw new Error(`not a query of label values: ${text}`)
  return { query, legend: [label] }
}

/** The query as Grafana sends it when everything is selected. */
export function substituted(query: string, rateInterval: string): string {
  return query.replaceAll('$__rate_interval', rateInterval).replaceAll(/\$(namespace|job|instance)\b/g, '.*')
}
