import { describe, expect, it } from 'vitest'
import { listFiles } from '../support/listFiles.js'
import { readAnchors, readCodeSpans, readLinks, readTable } from '../support/markdown.js'
import { readText } from '../support/readText.js'
import { type AlertRule, alertRules, minutesOf } from './alertRules.js'

const page = 'docs/monitoring.md'

/** As `runbook_url`: from the root of the project. */
const targetOf = (cell: string): string => {
  const [link = ''] = readLinks(cell)
  return link.startsWith('#') ? `${page}${link}` : `docs/${link}`
}

const labelsOf = new Map(
  readTable(readText('docs/reference/metrics.md'), 'Metric').map(
    ({ Metric: name = '', Labels: labels = '' }) => [readCodeSpans(name)[0] ?? '', readCodeSpans(labels)],
  ),
)

describe('deploy/prometheus/alerts.yml', () => {
  it('has the alerts of docs/monitoring.md, with their expressions, durations, severities and runbooks', () => {
    const listed = readTable(readText(page), 'Expression').map((row) => ({
      alert: readCodeSpans(row.Alert ?? '')[0],
      expr: readCodeSpans(row.Expression ?? '')[0],
      minutes: Number(/ for (\d+) min$/.exec(row.Expression ?? '')?.[1] ?? 0),
      severity: row.Severity,
      runbook: targetOf(row.Runbook ?? ''),
    }))
    const rules = alertRules.map((rule) => ({
      alert: rule.alert,
      expr: rule.expr,
      minutes: minutesOf(rule),
      severity: rule.labels.severity,
      runbook: rule.annotations.runbook_url,
    }))
    expect(rules.length).toBeGreaterThan(0)
    expect(listed).toEqual(rules)
  })

  it('has no alert twice', () => {
    expect(new Set(alertRules.map(({ alert }) => alert)).size).toBe(alertRules.length)
  })

  it.each(alertRules)('links $alert to a section that exists', ({ annotations: { runbook_url: url } }) => {
    const [path = '', anchor = ''] = url.split('#')
    expect(readAnchors(readText(path))).toContain(anchor)
  })

  it.each(alertRules)('describes $alert by labels that its metric has', (rule) => {
    const used = [
      ...Object.values(rule.annotations)
        .join(' ')
        .matchAll(/\$labels\.(\w+)/g),
    ].map(([, label = '']) => label)
    const [series = ''] = rule.expr.match(/\b(?:quittance|facilitator)_\w+/) ?? []
    const metric = series.replace(/_bucket$/, '')
    const isPerInstance = !rule.expr.includes('without (instance)')
    const known = [...(labelsOf.get(metric) ?? []), ...(isPerInstance ? ['instance'] : [])]
    expect(labelsOf.has(metric)).toBe(true)
    expect(used.filter((label) => !known.includes(label))).toEqual([])
  })

  it('has no alert without a test that makes its fault', () => {
    const suites = listFiles('test/deploy/faults').map(readText).join('\n')
    const isTested = ({ alert }: AlertRule) =>
      suites.includes(`expectAlert(promtool, '${alert}'`) || suites.includes(`alert: '${alert}'`)
    expect(alertRules.filter((rule) => !isTested(rule)).map(({ alert }) => alert)).toEqual([])
  })
})
