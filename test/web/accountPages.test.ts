import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createdIntent } from '../../src/protocol/intents.js'
import { createdInbox } from '../../src/protocol/sandbox.js'
import { streamOpened } from '../../src/protocol/streams.js'
import { findChromium } from '../support/chromium.js'
import { bazaarOf } from '../support/discovery.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxUpto } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'
import { type ConsoleBrowser, createCalls, openConsole, openLivePage } from './support.js'

const chromium = findChromium()
const payee = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'

describe.skipIf(chromium === null)('streams, intents, discovery and credit in the console', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let calls: ReturnType<typeof createCalls>
  let browser: ConsoleBrowser
  beforeAll(async () => {
    service = await startService({
      databaseUrl: database.url,
      environment: { SANDBOX: 'true', RATE_LIMITS: 'off' },
    })
    calls = createCalls(service.url)
    browser = await openConsole(chromium ?? '', service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })

  const openStream = async (apiKey: string, amount: string) => {
    const body = { ...(await sandboxUpto()), metadata: { session: 'chat-4711' } }
    const { stream } = streamOpened.parse(await calls.post('/v1/stream/open', body, apiKey))
    await calls.post('/v1/stream/update', { streamId: stream.id, amount }, apiKey)
    return stream
  }
  const createIntent = async (apiKey: string) => {
    const body = { payer, payee, amount: '10000', asset: 'USDC', metadata: { order: '4711' } }
    return createdIntent.parse(await calls.post('/v1/intent', body, apiKey)).intent
  }
  /** Settles a payment that declares its resource; waits until that is listed. */
  const listResource = async (apiKey: string, url: string): Promise<void> => {
    const payment = z
      .looseObject({ paymentPayload: z.looseObject({}) })
      .parse(await (await fetch(`${service.url}/sandbox/payments/CAFE11`)).json())
    const { paymentPayload, ...rest } = payment
    const resource = { url, description: 'Forecast of the next seven days', serviceName: 'Weather' }
    const declared = { ...paymentPayload, resource, extensions: { bazaar: bazaarOf() } }
    await calls.post('/settle', { ...rest, paymentPayload: declared }, apiKey)
    await pollUntil(async () => {
      const found = await (await fetch(`${service.url}/discovery/resources`)).json()
      return JSON.stringify(found).includes(url)
    }, `${url} in the catalogue`)
  }
  const openPage = (apiKey: string, path: string) =>
    openLivePage(browser.page, { url: `${service.url}/console/${path}`, apiKey })

  it('a stream appears as it is opened, and is paused, resumed and closed', async () => {
    const apiKey = await calls.register('ada@example.com')
    const page = await openPage(apiKey, 'streams')
    await page.getByText('No stream yet.').waitFor()
    const { id } = await openStream(apiKey, '2500')
    await page.getByRole('table', { name: 'Streams, newest first' }).getByRole('link').click()
    await page.waitForURL(`**/streams/${id}`)
    const status = page.locator('.page-head .badge')
    for (const [command, state] of [
      ['Pause', 'Paused'],
      ['Resume', 'Active'],
    ]) {
      await page.getByRole('button', { name: command ?? '' }).click()
      await status.filter({ hasText: state ?? '' }).waitFor()
    }
    await page.getByRole('button', { name: 'Close and settle' }).click()
    const question = page.getByRole('dialog', { name: 'Close the stream' })
    await question.getByText('0.0025').waitFor()
    await question.getByRole('button', { name: 'Close and settle' }).click()
    await status.filter({ hasText: 'Closed' }).waitFor()
    await page.getByRole('link', { name: 'Show the payment' }).click()
    await page.getByText('What happened').waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'All streams' }).click()
    await page.getByLabel('Status').selectOption('Paused')
    await page.getByText('No streams match.').waitFor()
    browser.expectNoProblems()
  })

  it.each([
    ['channel', null],
    ['hold', 'Captured'],
    ['intent', 'Cancelled'],
    ['stream', 'Closed'],
  ])(
    'the list of each %s says what to do while it is empty, and when a filter leaves all out',
    async (noun, status) => {
      const page = await openPage(await calls.register(`${noun}@example.com`), `${noun}s`)
      await page
        .getByRole('heading', { level: 1 })
        .getByText(`${noun.slice(1)}s`)
        .waitFor()
      await page.getByText(`No ${noun} yet.`).waitFor()
      const filter = page.getByLabel('Status')
      expect(await filter.count()).toBe(status === null ? 0 : 1)
      if (status !== null) {
        await filter.selectOption(status)
        await page.getByText(`No ${noun}s match.`).waitFor()
        expect(new URL(page.url()).searchParams.get('status')).toBe(status.toLowerCase())
        await page.getByRole('link', { name: 'Show all' }).click()
        await page.getByText(`No ${noun} yet.`).waitFor()
      }
      browser.expectNoProblems()
    },
  )

  it('a key that only reads looks at a stream, and the refusal of a command names the scope', async () => {
    const apiKey = await calls.register('joan@example.com')
    const { id } = await openStream(apiKey, '1')
    const created = await calls.post('/dashboard/api-keys', { name: 'Reader', scopes: ['read'] }, apiKey)
    const page = await openPage(z.object({ apiKey: z.string() }).parse(created).apiKey, `streams/${id}`)
    await page.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('alert').getByText('Sign in with a key that has the scope settle').waitFor()
    browser.expectNoProblems()
  })

  it('an intent shows its routes, and is cancelled', async () => {
    const apiKey = await calls.register('grace@example.com')
    const page = await openPage(apiKey, 'intents')
    await page.getByText('No intent yet.').waitFor()
    await createIntent(apiKey)
    await page.getByRole('table', { name: 'Intents, newest first' }).getByText('0.01').click()
    await page.getByRole('table', { name: 'Routes, the best first' }).getByText('exact').first().waitFor()
    await page.getByRole('button', { name: 'Compute the routes again' }).click()
    await page.getByRole('button', { name: 'Cancel the intent' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the intent' }).click()
    await page.getByText('It was cancelled.').waitFor()
    browser.expectNoProblems()
  })

  it('a listing is found, and taken off the list and put back by its owner', async () => {
    const apiKey = await calls.register('mary@example.com')
    const url = 'https://weather.example/v1/owned'
    await listResource(apiKey, url)
    const page = await openPage(apiKey, 'discovery')
    await page.getByLabel('Words').fill('owned')
    await page.getByRole('button', { name: 'Find' }).click()
    await page.waitForURL('**/discovery?q=owned')
    await page.getByRole('row').filter({ hasText: url }).getByRole('link').click()
    await page.getByRole('button', { name: 'Unlist' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Unlist' }).click()
    await page.getByText('Not listed').waitFor()
    await page.getByRole('button', { name: 'List it again' }).click()
    await page.getByRole('button', { name: 'Unlist' }).waitFor()
    // What the resource says is text, and leads nowhere.
    expect(await page.locator('main a[href*="weather.example"]').count()).toBe(0)
    browser.expectNoProblems()
  })

  it('the listing of another account cannot be taken off, which does not end the session', async () => {
    const url = 'https://weather.example/v1/foreign'
    await listResource(await calls.register('lise@example.com'), url)
    const page = await openPage(await calls.register('eve@example.com'), 'discovery?q=foreign')
    await page.getByRole('row').filter({ hasText: url }).getByRole('link').click()
    await page.getByRole('button', { name: 'Unlist' }).click()
    const question = page.getByRole('dialog')
    await question.getByRole('button', { name: 'Unlist' }).click()
    await question.getByRole('alert').getByText('Send the API key of the owning account').waitFor()
    await question.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    browser.expectNoProblems()
  })

  it('a wallet is looked up with the parts of its score, and an address that is none is explained', async () => {
    const apiKey = await calls.register('edith@example.com')
    await calls.settle('CAFE11', apiKey)
    const page = await openPage(apiKey, 'credit')
    await page.getByLabel('Address of a payer').fill(payer)
    await page.getByRole('button', { name: 'Look up' }).click()
    for (const part of ['Volume', 'Frequency', 'Reliability', 'Age'])
      await page.getByRole('meter', { name: `Points for ${part}` }).waitFor()
    await page.getByRole('button', { name: 'Count the payments again' }).click()
    await page.getByText('No figure had to be corrected.').waitFor()
    await page.getByLabel('Address of a payer').fill('nobody')
    await page.getByRole('button', { name: 'Look up' }).click()
    await page.getByText('This is no address that the service knows.').waitFor()
    browser.expectNoProblems()
  })

  it('every page is readable in both themes and both widths', async () => {
    const apiKey = await calls.register('hedy@example.com')
    const inbox = createdInbox.parse(await calls.post('/sandbox/inbox', { failures: 0 }))
    await calls.post('/dashboard/webhook', { webhookUrl: inbox.url }, apiKey)
    await calls.post('/dashboard/api-keys', { name: 'Checkout', scopes: ['verify', 'settle'] }, apiKey)
    await openStream(apiKey, '2500')
    await createIntent(apiKey)
    await listResource(apiKey, 'https://weather.example/v1/readable')
    const page = await openPage(apiKey, '')
    const show = async (label: string) => {
      await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: label }).click()
      await page.getByRole('heading', { name: label, level: 1 }).waitFor()
    }
    for (const label of ['Streams', 'Intents', 'Discovery']) {
      await show(label)
      const link = page.locator('.row-link').first()
      await link.waitFor()
      await browser.expectReadable(label.toLowerCase())
      await link.click()
      await page.locator('.receipt').waitFor()
      await browser.expectReadable(`${label.toLowerCase()}-details`)
    }
    await show('Webhooks')
    await page.locator('.deliveries summary').filter({ hasText: 'Delivered' }).first().click()
    await page.getByRole('button', { name: 'Send again' }).waitFor()
    await browser.expectReadable('webhooks')
    await show('Keys')
    await page.getByText('Key created').waitFor()
    await browser.expectReadable('keys')
    await page.getByRole('button', { name: 'Rotate' }).click()
    await browser.expectReadable('rotate')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await show('Credit')
    await page.getByRole('table', { name: 'Wallets, the highest score first' }).waitFor()
    await browser.expectReadable('credit')
    await page.locator('.row-link').first().click()
    await page.getByRole('meter').first().waitFor()
    await browser.expectReadable('credit-score')
    browser.expectNoProblems()
  })
})
