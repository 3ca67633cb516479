import { spawnSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { findPromtool } from '../support/promtool.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { alertRules, alertsFile } from './alertRules.js'
import { listExpressions } from './dashboard.js'

const promtool = (await findPromtool()) ?? ''

const check = (file: string) => {
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', file], { encoding: 'utf8' })
  return { status, output: `${stdout}${stderr}` }
}

const checkExpressions = async (expressions: readonly string[]) => {
  const folder = await makeTemporaryFolder('quittance-rules-')
  const file = join(folder, 'expressions.yml')
  const rules = expressions.map((expr, at) => ({ record: `panel:${at}`, expr }))
  await writeFile(file, JSON.stringify({ groups: [{ name: 'expressions', rules }] }))
  const checked = check(file)
  await rm(folder, { recursive: true, force: true })
  return checked
}

describe.skipIf(promtool === '')('Prometheus', () => {
  it('accepts the alerting rules', () => {
    const { status, output } = check(alertsFile)
    expect(output).toContain(`${alertRules.length} rules found`)
    expect(status).toBe(0)
  })

  it('parses every expression of the dashboard', async () => {
    const expressions = listExpressions()
    expect(expressions.length).toBeGreaterThan(20)
    expect(await checkExpressions(expressions)).toMatchObject({ status: 0 })
    expect(await checkExpressions([...expressions, 'rate(quittance_ready'])).toMatchObject({ status: 1 })
  })
})
