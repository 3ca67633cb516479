import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createdInbox, inboxView } from '../../src/protocol/sandbox.js'
import { findChromium } from '../support/chromium.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type ConsoleBrowser, createCalls, openConsole, signInWith, waitUntilLive } from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('webhooks in the console', () => {
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

  const openInbox = async (failures = 0) => {
    const inbox = createdInbox.parse(await calls.post('/sandbox/inbox', { failures }))
    const read = async () =>
      inboxView.parse(await (await fetch(`${service.url}/sandbox/inbox/${inbox.id}`)).json()).messages
    return { url: inbox.url, read }
  }

  const openPage = async (apiKey: string) => {
    const { page } = browser
    await page.goto(`${service.url}/console/webhooks`)
    await signInWith(page, apiKey)
    await waitUntilLive(page)
    return page
  }

  const deliveryOf = (status: string) =>
    browser.page.locator('.deliveries summary').filter({ hasText: status }).first()

  it('are set, tried, and shown as they are delivered, with the request as the receiver got it', async () => {
    const apiKey = await calls.register('ada@example.com')
    const inbox = await openInbox()
    const page = await openPage(apiKey)
    await page.getByText('Nothing was sent in the last 30 days.').waitFor()
    await page.getByLabel('URL').fill(inbox.url)
    await page.getByRole('button', { name: 'Set the webhook' }).click()
    const dialog = page.getByRole('dialog')
    const secret = await dialog.locator('code').textContent()
    expect(secret).toMatch(/^whsec_/)
    await dialog.getByRole('button', { name: 'I stored it' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('The test arrived.').waitFor()
    expect(await page.content()).not.toContain(secret)
    const id = await calls.settle('CAFE11', apiKey)
    await deliveryOf('Delivered').click()
    const shown = (await page.getByRole('region', { name: 'Request' }).textContent()) ?? ''
    const body: unknown = JSON.parse(shown.slice(shown.indexOf('{')))
    const [message] = await inbox.read()
    expect(body).toEqual(JSON.parse(message?.body ?? ''))
    expect(body).toMatchObject({ type: 'settlement.confirmed', data: { id } })
    expect(shown).toContain(`webhook-id: ${message?.headers['webhook-id']}`)
    await page.getByRole('button', { name: 'Send again' }).click()
    const messages = await pollUntil(async () => {
      const all = await inbox.read()
      return all.length === 3 ? all : null
    }, 'the message a second time, after the test')
    expect(messages[0]?.headers['webhook-id']).toBe(messages[1]?.headers['webhook-id'])
    browser.expectNoProblems()
  })

  it('get another secret, and are removed, after a question', async () => {
    const apiKey = await calls.register('grace@example.com')
    const { url } = await openInbox()
    const set = () =>
      calls
        .post('/dashboard/webhook', { webhookUrl: url }, apiKey)
        .then((answer) => z.object({ secret: z.string() }).parse(answer).secret)
    const before = await set()
    const page = await openPage(apiKey)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await set()).toBe(before)
    await page.getByRole('button', { name: 'Rotate the secret' }).click()
    await dialog.getByRole('button', { name: 'Rotate' }).click()
    const shown = await dialog.getByText(/^whsec_/).textContent()
    expect(shown).not.toBe(before)
    expect(shown).toBe(await set())
    await dialog.getByRole('button', { name: 'I stored it' }).click()
    await page.getByRole('button', { name: 'Remove' }).click()
    await dialog.getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('button', { name: 'Set the webhook' }).waitFor()
    await page.getByText('Set a URL above').waitFor()
    browser.expectNoProblems()
  })

  it('that fail say what the receiver answered', async () => {
    const apiKey = await calls.register('joan@example.com')
    const { url } = await openInbox(8)
    await calls.post('/dashboard/webhook', { webhookUrl: url }, apiKey)
    const page = await openPage(apiKey)
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('The receiver answered 500').waitFor()
    await calls.settle('CAFE11', apiKey)
    await deliveryOf('answered 500').filter({ hasText: 'Waiting' }).waitFor()
    await page.getByLabel('Status').selectOption('failed')
    await page.getByText('No deliveries match.').waitFor()
    await page.getByLabel('URL').fill('http://localhost:3000/hook')
    await page.getByRole('button', { name: 'Save and show the secret' }).click()
    await page.getByRole('alert').getByText('must begin with https://').waitFor()
    browser.expectNoProblems()
  })

  it('are listed page by page', async () => {
    const apiKey = await calls.register('mary@example.com')
    await calls.post('/dashboard/webhook', { webhookUrl: (await openInbox()).url }, apiKey)
    for (let count = 0; count < 21; count += 1) await calls.settle('CAFE11', apiKey)
    const page = await openPage(apiKey)
    await page.getByRole('link', { name: 'Older' }).click()
    await page.getByRole('link', { name: 'Newest' }).waitFor()
    await pollUntil(
      async () => (await page.locator('.deliveries > li').count()) === 1,
      'the one delivery of the last page',
    )
    browser.expectNoProblems()
  })

  it('are only looked at with a key that only reads, and the refusal names the scope', async () => {
    const apiKey = await calls.register('edith@example.com')
    const { url } = await openInbox()
    await calls.post('/dashboard/webhook', { webhookUrl: url }, apiKey)
    await calls.settle('CAFE11', apiKey)
    const created = await calls.post('/dashboard/api-keys', { name: 'Reader', scopes: ['read'] }, apiKey)
    const page = await openPage(z.object({ apiKey: z.string() }).parse(created).apiKey)
    await deliveryOf('Delivered').waitFor()
    await page.getByRole('button', { name: 'Send a test' }).click()
    const note = page.getByRole('alert')
    await note.getByText('Sign in with a key that has the scope manage').waitFor()
    expect(await note.textContent()).toMatch(/FORBIDDEN · request \S+/)
    browser.expectNoProblems()
  })

  it('need none while developing: the command has the key as a variable', async () => {
    const apiKey = await calls.register('hedy@example.com')
    const page = await openPage(apiKey)
    const command = await page
      .getByRole('region', { name: 'Command that forwards events to your machine' })
      .textContent()
    expect(command).toContain(`npm run listen -- --url ${service.url}`)
    expect(command).toContain('--key "$QUITTANCE_API_KEY"')
    expect(await page.content()).not.toContain(apiKey)
  })
})
