import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type ConsoleBrowser, createCalls, openConsole, signInWith, waitUntilLive } from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('the console in a browser', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let browser: ConsoleBrowser
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    browser = await openConsole(chromium ?? '', service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })

  it('registers a project, signs in with its key, and shows its first payment as it arrives', async () => {
    const { page } = browser
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
  })

  it('says that the pages of its operator are off without a token', async () => {
    const { page } = browser
    await page.goto(`${service.url}/console/operator`)
    await page.getByText('This instance has no OPERATOR_TOKEN').waitFor()
    expect(await page.getByLabel('Operator token').count()).toBe(0)
    await browser.expectAccessible()
    await browser.photograph('operator-no-token')
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
    const telephone = await openConsole(chromium ?? '', service.url, { colorScheme: 'dark', width: 360 })
    const { page } = telephone
    try {
      await page.goto(`${service.url}/console`)
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      await telephone.expectReadable('sign-in')
      await signInWith(page, apiKey)
      await waitUntilLive(page)
      await page.locator('.u-over').first().waitFor()
      await page.getByRole('table', { name: 'Payments, newest first' }).waitFor()
      await telephone.expectReadable('overview')
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Payments' }).click()
      await page.getByRole('heading', { name: 'Payments' }).waitFor()
      const table = page.getByRole('table', { name: 'Payments, newest first' })
      await table.waitFor()
      await telephone.expectReadable('payments')
      await table.getByRole('row').filter({ hasText: 'Confirmed' }).first().getByRole('link').click()
      await page.getByText('What happened').waitFor()
      await telephone.expectReadable('payment')
      telephone.expectNoProblems()
    } finally {
      await telephone.close()
    }
  })
})
