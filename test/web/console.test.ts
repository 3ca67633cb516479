import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { createCalls, openConsole, signInWith, waitUntilLive } from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('the console in a browser', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
  })
  afterAll(() => service.close())

  const open = (options = {}) => openConsole(chromium ?? '', service.url, options)

  it('registers a project, signs in with its key, and shows its first payment as it arrives', async () => {
    const browser = await open()
    const { page } = browser
    try {
      await page.goto(`${service.url}/`)
      await page.getByRole('link', { name: 'Console' }).first().click()
      await page.waitForURL(/\/console$/)
      await page.getByLabel('E-mail address').fill('ada@example.com')
      await page.getByLabel('Project', { exact: true }).fill('Report shop')
      await browser.photograph('sign-in-filled')
      await browser.expectAccessible()
      await page.getByRole('button', { name: 'Get a key' }).click()
      const dialog = page.getByRole('dialog')
      const apiKey = (await dialog.locator('code').textContent()) ?? ''
      expect(apiKey).toMatch(/^qtn_sk_test_/)
      await browser.photograph('new-key')
      await browser.expectAccessible()
      await dialog.getByRole('button', { name: 'sign in' }).click()
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      await page.getByText('No payment yet').waitFor()
      await waitUntilLive(page)
      await browser.photograph('first-visit')
      await browser.expectAccessible()
      await createCalls(service.url).settle('CAFE11', apiKey)
      await page.getByRole('table', { name: 'Payments, newest first' }).getByText('Confirmed').waitFor()
      browser.expectNoProblems()
    } finally {
      await browser.close()
    }
  })

  it('is readable in both themes and both widths, loaded in the dark on a telephone', async () => {
    const { register, settle } = createCalls(service.url)
    const apiKey = await register('grace@example.com')
    const networks = [
      'eip155:84532',
      'eip155:84532',
      'eip155:84532',
      'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      'tron:nile',
    ]
    for (const network of networks) await settle('CAFE11', apiKey, network)
    await settle('CAFE13', apiKey)
    const browser = await open({ colorScheme: 'dark', width: 360 })
    const { page } = browser
    try {
      await page.goto(`${service.url}/console`)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      await browser.expectReadable('sign-in')
      await signInWith(page, apiKey)
      await waitUntilLive(page)
      await page.locator('.u-over').first().waitFor()
      await page.getByRole('table', { name: 'Payments, newest first' }).waitFor()
      await browser.expectReadable('overview')
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Payments' }).click()
      await page.getByRole('heading', { name: 'Payments' }).waitFor()
      const table = page.getByRole('table', { name: 'Payments, newest first' })
      await table.waitFor()
      await browser.expectReadable('payments')
      await table.getByRole('row').filter({ hasText: 'Confirmed' }).first().getByRole('link').click()
      await page.getByText('What happened').waitFor()
      await browser.expectReadable('payment')
      browser.expectNoProblems()
    } finally {
      await browser.close()
    }
  })
})
