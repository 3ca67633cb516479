import { describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService } from '../support/service.js'
import { openConsole } from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)("the operator's pages of an instance without a token", () => {
  const database = useTestDatabase({ isSandbox: true })

  it('say so', async () => {
    const service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    const browser = await openConsole(chromium ?? '', service.url)
    try {
      await browser.page.goto(`${service.url}/console/operator`)
      await browser.page.getByText('This instance has no OPERATOR_TOKEN').waitFor()
      expect(await browser.page.getByLabel('Operator token').count()).toBe(0)
      await browser.expectAccessible()
      await browser.photograph('operator-no-token')
    } finally {
      await browser.close()
      await service.close()
    }
  })
})
