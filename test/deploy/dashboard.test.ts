import { describe, expect, it } from 'vitest'
import { openCore } from '../support/core.js'
import { readCodeSpans, readTable } from '../support/markdown.js'
import { useTestDatabase } from '../support/postgres.js'
import { readText } from '../support/readText.js'
import { alertRules } from './alertRules.js'
import { dashboard, listExpressions, panels } from './dashboard.js'
import { observe } from './observe.js'

const metrics = readTable(readText('docs/reference/metrics.md'), 'Metric')
const labelsOf = new Map(
  metrics.map(({ Metric: name = '', Labels: labels = '' }) => [
    readCodeSpans(name)[0] ?? '',
    readCodeSpans(labels),
  ]),
)

/** Metrics of an expression, with the labels of their selectors; `_bucket` is a series of a histogram. */
const listSelectors = (expression: string) =>
  [...expression.matchAll(/\b((?:quittance|facilitator|process|nodejs)_\w+)(?:\{([^}]*)\})?/g)].map(
    ([, name = '', selector = '']) => ({
      name: name.replace(/_bucket$/, ''),
      labels: [...selector.matchAll(/(\w+)\s*(?:=~|!=|!~|=)/g)].map(([, label = '']) => label),
    }),
  )

const ofPrometheus = ['instance', 'job']
const ours = (name: string): boolean => /^(?:quittance|facilitator)_/.test(name)

describe('deploy/grafana/quittance.json', () => {
  it('shows every metric of the reference', () => {
    const shown = new Set(
      listExpressions()
        .flatMap(listSelectors)
        .map(({ name }) => name),
    )
    expect([...labelsOf.keys()].filter((name) => !shown.has(name))).toEqual([])
  })

  it('selects by labels that the metrics have', () => {
    const wrong = [...listExpressions(), ...alertRules.map(({ expr }) => expr)]
      .flatMap(listSelectors)
      .filter(({ name }) => ours(name))
      .filter(({ name, labels }) => {
        const known = labelsOf.get(name)
        return known === undefined || labels.some((label) => ![...known, ...ofPrometheus].includes(label))
      })
    expect(wrong).toEqual([])
  })

  it('groups and names series by labels that their metric has', () => {
    const used = panels.flatMap(({ targets }) =>
      targets.flatMap(({ expr, legendFormat }) => {
        const groups = /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? null
        const named = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label)
        const [{ name } = { name: '' }] = listSelectors(expr)
        const known = [...(labelsOf.get(name) ?? []), ...ofPrometheus, 'le']
        return [
          ...(groups ?? []).filter((label) => !known.includes(label)),
          ...named.filter((label) => !(groups ?? known).includes(label)),
        ]
      }),
    )
    expect(used).toEqual([])
  })

  it('offers the data source, the instances and the networks as variables', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['datasource', 'instance', 'network'])
  })

  it('has the thresholds of the alerts', () => {
    const shown = panels.flatMap(({ title, description, fieldConfig: { defaults } }) =>
      [...description.matchAll(/\bQuittance\w+/g)].map(([alert]) => {
        const steps = defaults.thresholds?.steps.map(({ value }) => value) ?? []
        return { title, alert, steps: steps.filter((value) => value !== null) }
      }),
    )
    expect(shown.map(({ alert }) => alert).sort()).toEqual(alertRules.map(({ alert }) => alert).sort())
    const wrong = shown.filter(({ alert, steps }) => {
      const rule = alertRules.find((each) => each.alert === alert)
      const [, operator, limit] = /(==|>|<) ([\d.]+)$/.exec(rule?.expr ?? '') ?? []
      // A gauge of 1 and 0 has one threshold, whichever of both the alert means; below 1 there is only 0.
      return !steps.includes(operator === '==' ? 1 : Number(limit))
    })
    expect(wrong).toEqual([])
  })

  it('places its panels without overlap, each with an id of its own', () => {
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(dashboard.panels.every(({ gridPos: { x, w } }) => x + w <= 24)).toBe(true)
  })
})

describe('a running service', () => {
  const database = useTestDatabase({ isSandbox: true })

  it('has every metric of the dashboard and of the alerts', async () => {
    const environment = { SANDBOX: 'true' }
    const core = await openCore({ databaseUrl: database.url, environment, measuresProcess: true })
    const { app } = await observe(core, database.url)
    const page = (await app.inject('/metrics')).body
    await core.close()
    const served = new Set([...page.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name))
    const asked = [...listExpressions(), ...alertRules.map(({ expr }) => expr)].flatMap(listSelectors)
    expect(asked.map(({ name }) => name).filter((name) => !served.has(name))).toEqual([])
  })
})
