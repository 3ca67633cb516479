import { z } from 'zod'
import { readText } from '../support/readText.js'

/* What Grafana 10 and later read of a dashboard, of the kinds of panels that ours has. */

// Grafana replaces it by the data source that was chosen.
const dataSourceVariable = ['$', '{datasource}'].join('')
const datasource = z.strictObject({ type: z.literal('prometheus'), uid: z.literal(dataSourceVariable) })

const place = z.strictObject({
  h: z.int().positive(),
  w: z.int().positive().max(24),
  x: z.int().min(0),
  y: z.int().min(0),
})

const steps = z.array(z.strictObject({ color: z.string(), value: z.number().nullable() })).nonempty()

const row = z.strictObject({
  id: z.int().positive(),
  type: z.literal('row'),
  title: z.string(),
  collapsed: z.literal(false),
  gridPos: place,
  panels: z.tuple([]),
})

const panel = z.strictObject({
  id: z.int().positive(),
  type: z.enum(['timeseries', 'stat']),
  title: z.string().min(1),
  description: z.string().min(1),
  datasource,
  gridPos: place,
  fieldConfig: z.strictObject({
    defaults: z.strictObject({
      unit: z.enum(['short', 's', 'ops', 'reqps', 'bytes', 'percentunit']),
      min: z.literal(0),
      thresholds: z.strictObject({ mode: z.literal('absolute'), steps }).optional(),
      custom: z.strictObject({ thresholdsStyle: z.strictObject({ mode: z.literal('line') }) }).optional(),
    }),
    overrides: z.tuple([]),
  }),
  options: z.looseObject({}),
  targets: z
    .array(
      z.strictObject({
        refId: z.string().regex(/^[A-Z]$/),
        datasource,
        expr: z.string().min(1),
        legendFormat: z.string().min(1),
        range: z.literal(true),
      }),
    )
    .nonempty(),
})

const variable = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('datasource'),
    name: z.literal('datasource'),
    query: z.literal('prometheus'),
  }),
  z.looseObject({
    type: z.literal('query'),
    name: z.enum(['instance', 'network']),
    datasource,
    query: z.strictObject({ query: z.string(), refId: z.string() }),
    multi: z.literal(true),
    includeAll: z.literal(true),
  }),
])

const dashboardFile = z.looseObject({
  uid: z.string().regex(/^[\w-]{1,40}$/),
  title: z.string().min(1),
  schemaVersion: z.int().min(36),
  templating: z.strictObject({ list: z.array(variable) }),
  annotations: z.strictObject({
    list: z.array(z.looseObject({ name: z.string(), enable: z.boolean(), datasource, expr: z.string() })),
  }),
  panels: z.array(z.discriminatedUnion('type', [row, panel])).nonempty(),
})

export const dashboard = dashboardFile.parse(JSON.parse(readText('deploy/grafana/quittance.json')))

export const panels = dashboard.panels.filter((each) => each.type !== 'row')

/** PromQL of the dashboard, with its variables replaced as Grafana does it for all values. */
export const listExpressions = (): readonly string[] =>
  [
    ...panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
    ...dashboard.annotations.list.map(({ expr }) => expr),
  ].map((expr) => expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$(?:instance|network)\b/g, '.*'))
