import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findChromium } from '../support/chromium.js'
import { failedColumns, insertJournalRows, openColumns } from '../support/journalRows.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import {
  type ConsoleBrowser,
  createCalls,
  openConsole,
  readReason,
  signInWith,
  waitForCount,
  waitUntilLive,
} from './support.js'

const chromium = findChromium()
const table = 'Payments, newest first'

describe.skipIf(chromium === null)('payments in the console', () => {
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

  const rowsOf = () => browser.page.getByRole('table', { name: table }).locator('tbody tr')

  /** A new project, whose id rows of the journal name. */
  const registerOwner = async (email: string, projectName?: string) => {
    const apiKey = await createCalls(service.url).register(email, projectName)
    const { rows } = await database.pool.query('select id from accounts where email = $1', [email])
    return { apiKey, caller: `'${rows[0]?.id}'` }
  }

  const openPayments = async (apiKey: string, query = '') => {
    await browser.page.goto(`${service.url}/console/payments${query}`)
    await signInWith(browser.page, apiKey)
  }

  it('lists 10,000 by pages of 50, by filters, and by what is searched', async () => {
    const { apiKey, caller } = await registerOwner('many@example.com')
    await insertJournalRows(database.pool, {
      count: 10_000,
      columns: { caller, payer: `'0xpayer' || n`, transaction: `'0x' || lpad(n::text, 64, '0')` },
    })
    await insertJournalRows(database.pool, {
      count: 3,
      columns: { caller, ...failedColumns, network: `'tron:nile'` },
    })
    await openPayments(apiKey)
    const { page } = browser
    await waitForCount(rowsOf(), 50)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.waitForURL(/cursor=/)
    await page.getByRole('link', { name: 'Newest' }).waitFor()
    await waitForCount(rowsOf(), 50)
    await page.goBack()
    await page.getByLabel('Status').selectOption('failed')
    await waitForCount(rowsOf(), 3)
    await page.getByLabel('Network').selectOption('eip155:84532')
    await page.getByText('No payment matches').waitFor()
    await page.getByRole('link', { name: 'Show all payments' }).click()
    await waitForCount(rowsOf(), 50)
    for (const [text, payer] of [
      ['0xPAYER876', '0xpayer876'],
      [`0x${'9876'.padStart(64, '0')}`, '0xpayer9876'],
    ] as const) {
      await page.getByLabel('Transaction, payer or id').fill(text)
      await page.getByRole('button', { name: 'Find' }).click()
      await waitForCount(rowsOf(), 1)
      await rowsOf().getByTitle(payer, { exact: true }).waitFor()
    }
    await rowsOf().getByRole('link').click()
    await page.waitForURL(/payments\/[0-9a-f-]{36}$/)
    const id = page.url().split('/').at(-1) ?? ''
    await page.goto(`${service.url}/console/payments`)
    await signInWith(page, apiKey)
    await page.getByLabel('Transaction, payer or id').fill(id)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL(new RegExp(`/console/payments/${id}$`))
    browser.expectNoProblems()
  })

  it('says why a payment failed, and what to do', async () => {
    const { apiKey, caller } = await registerOwner('failed@example.com')
    await insertJournalRows(database.pool, {
      count: 1,
      columns: { caller, ...failedColumns },
    })
    await openPayments(apiKey, '?status=failed')
    await rowsOf().getByRole('link').click()
    const { page } = browser
    const { title, explanation, remedy } = await readReason(service.url, 'insufficient_funds')
    for (const text of [`${title}.`, explanation, remedy])
      await page.getByText(text, { exact: true }).waitFor()
    await page.getByText(/no funds moved/).waitFor()
    await browser.expectAccessible()
    await browser.photograph('payment-failed')
    browser.expectNoProblems()
  })

  it('starts with what needs attention', async () => {
    const { apiKey, caller } = await registerOwner('attention@example.com')
    const old = { created_at: `now() - interval '10 minutes'` }
    await insertJournalRows(database.pool, { count: 2, columns: { caller, ...openColumns, ...old } })
    await insertJournalRows(database.pool, {
      count: 1,
      columns: { caller, ...failedColumns },
    })
    await createCalls(service.url).settle('CAFE11', apiKey)
    await database.pool.query('update quota_uses set used = 900')
    await browser.page.goto(`${service.url}/console`)
    await signInWith(browser.page, apiKey)
    const matters = browser.page.locator('.matters li')
    await waitForCount(matters, 5)
    expect(await matters.locator('strong').allTextContents()).toEqual([
      '2 payments pending for long',
      '1 payment failed in 24 hours',
      '90.0 % of the quota is used',
      'No webhook is set.',
      'The key works from everywhere.',
    ])
    await browser.expectAccessible()
    await browser.photograph('attention')
    browser.expectNoProblems()
  })

  it('shows text of payers and owners as text', async () => {
    const markup = `<img src=x onerror="document.title='changed'">`
    const { apiKey, caller } = await registerOwner('markup@example.com', `<b>Shop</b>`)
    const quoted = `'${markup.replaceAll("'", "''")}'`
    await insertJournalRows(database.pool, {
      count: 1,
      columns: { caller, payer: quoted, pay_to: quoted, asset: quoted, network: quoted, transaction: quoted },
    })
    await openPayments(apiKey)
    const { page } = browser
    await page.getByText('<b>Shop</b>').waitFor()
    await rowsOf().getByRole('link').click()
    await page.getByText(markup).nth(3).waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).toBe('Payment · quittance')
    expect(await page.locator('a[target="_blank"]').count()).toBe(0)
    browser.expectNoProblems()
  })

  it('keeps what happened before a reorganization, and shows it as it happens', async () => {
    const { post } = createCalls(service.url)
    const { apiKey } = await registerOwner('reorg@example.com')
    const scenario = z
      .object({ id: z.string(), request: z.unknown() })
      .parse(await post('/sandbox/scenarios', { network: 'eip155:84532', reorg: { afterBlocks: 2 } }, apiKey))
    await openPayments(apiKey)
    const { page } = browser
    await waitUntilLive(page)
    const { settlementId } = z
      .object({ settlementId: z.string() })
      .parse(await post('/settle', scenario.request, apiKey))
    await rowsOf().getByRole('link').click()
    await page.waitForURL(new RegExp(settlementId))
    await post('/sandbox/clock/advance', { scenarioId: scenario.id, seconds: 6 }, apiKey)
    const steps = page.locator('.timeline strong')
    await page.getByText('the chain was reorganized, and the payment was pending again').waitFor()
    await pollUntil(
      async () => /^Recorded,Sent,Block dropped,Confirmed,/.test((await steps.allTextContents()).join()),
      'the payment to be confirmed in another block',
      () => steps.allTextContents(),
    )
    await browser.expectAccessible()
    await browser.photograph('payment-reorg')
    browser.expectNoProblems()
  })

  it('says when a payment is final, and not to pay again while its outcome is unknown', async () => {
    const { settle } = createCalls(service.url)
    const { apiKey } = await registerOwner('blocks@example.com')
    await openPayments(apiKey)
    await waitUntilLive(browser.page)
    const { page } = browser
    const id = await settle('CAFE11', apiKey, 'tron:nile')
    await rowsOf().getByRole('link').click()
    await page.waitForURL(new RegExp(id))
    await page.getByText('can no longer be orphaned').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'Payments' }).waitFor()
    await settle('CAFE13', apiKey)
    await rowsOf().filter({ hasText: 'Pending' }).getByRole('link').click()
    await page.getByText('Do not ask the payer to pay again').waitFor()
    await browser.photograph('payment-pending')
    browser.expectNoProblems()
  })
})
