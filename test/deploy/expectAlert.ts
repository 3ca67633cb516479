import { spawnSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { alertRules, alertsFile, minutesOf } from './alertRules.js'
import type { Scrape } from './scrape.js'

interface Timeline {
  /** Pages of the service, one a step: without the fault. */
  readonly before: readonly [Scrape, ...Scrape[]]
  /** And with it. The last one is repeated until the alert has waited. */
  readonly during: readonly [Scrape, ...Scrape[]]
  /** Default: a minute. */
  readonly step?: '1m' | '1d'
}

/** No alert fires while the pages are those before the fault; this one does with those of the fault, and not too early. */
export const expectAlert = async (promtool: string, alert: string, timeline: Timeline): Promise<void> => {
  const rule = alertRules.find((each) => each.alert === alert)
  if (rule === undefined) throw new Error(`There is no alert ${alert}`)
  const { before, during, step = '1m' } = timeline
  const [last = during[0]] = during.slice(-1)
  const isDelayed = step === '1d' || minutesOf(rule) > 0
  const waits = step === '1m' ? Math.max(0, minutesOf(rule) + 1 - during.length) : 1
  const pages = [...before, ...during, ...Array.from({ length: waits }, () => last)]
  const at = (page: number): string => `${page}${step.slice(1)}`
  const firing = (labels: string): string => `count(ALERTS{alertstate="firing"${labels}}) > bool 0`
  const ours = `,alertname="${alert}",severity="${rule.labels.severity}"`
  const faultAt = before.length
  const isTested = {
    interval: step,
    input_series: listSeries(pages),
    promql_expr_test: [
      { expr: firing(''), eval_time: at(faultAt - 1), exp_samples: [] },
      ...(!isDelayed ? [] : [{ expr: firing(ours), eval_time: at(faultAt), exp_samples: [] }]),
      { expr: firing(ours), eval_time: at(pages.length - 1), exp_samples: [{ labels: '{}', value: 1 }] },
    ],
  }
  await runPromtool(promtool, { rule_files: [alertsFile], evaluation_interval: step, tests: [isTested] })
}

const listSeries = (pages: readonly Scrape[]) => {
  const names = new Set(pages.flatMap((page) => [...page.keys()]))
  return [...names].map((series) => ({
    series,
    values: pages.map((page) => page.get(series) ?? '_').join(' '),
  }))
}

const runPromtool = async (promtool: string, tests: unknown): Promise<void> => {
  const folder = await makeTemporaryFolder('quittance-rules-')
  try {
    const file = join(folder, 'tests.yml')
    // YAML contains JSON.
    await writeFile(file, JSON.stringify(tests))
    const { status, stdout, stderr } = spawnSync(promtool, ['test', 'rules', file], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`promtool test rules:\n${stdout}${stderr}`)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
