import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import {
  type ConsoleBrowser,
  createCalls,
  openConsole,
  signInWith,
  waitForRefusedFeed,
  waitUntilLive,
} from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('keys in the console', () => {
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
  afterEach(() => browser.page.unrouteAll({ behavior: 'ignoreErrors' }))

  const openPage = async (apiKey: string) => {
    const { page } = browser
    await page.goto(`${service.url}/console/keys`)
    await signInWith(page, apiKey)
    await waitUntilLive(page)
    await rowOf('this session').waitFor()
    return page
  }
  const rowOf = (text: string) =>
    browser.page
      .getByRole('table', { name: 'Keys of the project' })
      .getByRole('row')
      .filter({ hasText: text })
  const ask = async (apiKey: string, path: string) => {
    const response = await fetch(`${service.url}${path}`, { headers: { 'x-api-key': apiKey } })
    return { status: response.status, json: await response.json() }
  }
  const create = async (apiKey: string, name: string, scopes: readonly string[]) =>
    z.object({ apiKey: z.string() }).parse(await calls.post('/dashboard/api-keys', { name, scopes }, apiKey))
      .apiKey
  const readShown = async () => {
    const dialog = browser.page.getByRole('dialog', { name: 'Your new API key' })
    const shown = (await dialog.locator('code').textContent()) ?? ''
    await dialog.getByRole('button', { name: 'I stored it' }).click()
    return shown
  }

  it('are created with the scopes that were chosen, and shown once', async () => {
    const page = await openPage(await calls.register('ada@example.com'))
    await page.getByLabel('Name').fill('Checkout server')
    await page.getByRole('checkbox', { name: 'settle' }).uncheck()
    await page.getByLabel('Expires').selectOption('In 30 days')
    await page.getByRole('button', { name: 'Create the key' }).click()
    const created = await readShown()
    await rowOf('Checkout server').filter({ hasText: 'in 29 days' }).waitFor()
    expect(await page.content()).not.toContain(created)
    expect(await ask(created, '/dashboard/info')).toMatchObject({
      status: 403,
      json: { message: 'The API key lacks the scope read' },
    })
    const changes = page.getByRole('table', { name: 'Changes, newest first' })
    await changes
      .getByRole('row')
      .filter({ hasText: 'Key created' })
      .filter({ hasText: '127.0.0.1' })
      .waitFor()
    await page.getByRole('link', { name: 'All changes' }).click()
    await changes.getByText('Project registered').waitFor()
    browser.expectNoProblems()
  })

  it('that are rotated leave the session open with the new one, also after a reload', async () => {
    const old = await calls.register('grace@example.com')
    const { page } = browser
    await page.goto(`${service.url}/console/keys`)
    await page.getByLabel('Remember the key until this tab closes').check()
    await signInWith(page, old)
    await waitUntilLive(page)
    await page.getByRole('button', { name: 'Rotate' }).click()
    const question = page.getByRole('dialog', { name: 'Rotate the key of this session' })
    await question.getByLabel('Invalid at once').check()
    await question.getByRole('button', { name: 'Rotate' }).click()
    const next = await readShown()
    expect((await ask(old, '/dashboard/info')).status).toBe(401)
    expect((await ask(next, '/dashboard/info')).status).toBe(200)
    await waitUntilLive(page)
    await page.reload()
    await rowOf('this session').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    browser.expectNoProblems()
  })

  it('that are rotated are shown although the feed is refused before the answer is here', async () => {
    const page = await openPage(await calls.register('rosalind@example.com'))
    await page.route('**/dashboard/rotate*', async (route) => {
      const refused = waitForRefusedFeed(page)
      const response = await route.fetch()
      const { apiKey } = z.object({ apiKey: z.string() }).parse(await response.json())
      // An event ends the request that waits for one; the next one carries the old key.
      await calls.settle('CAFE11', apiKey)
      await refused
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByLabel('Invalid at once').check()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    expect((await ask(await readShown(), '/dashboard/info')).status).toBe(200)
    await waitUntilLive(page)
    browser.expectNoProblems()
  })

  it('that overlap are retiring, and can be revoked before their time', async () => {
    const old = await calls.register('joan@example.com')
    const page = await openPage(old)
    await page.getByRole('button', { name: 'Rotate' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
    await readShown()
    expect((await ask(old, '/dashboard/info')).status).toBe(200)
    await rowOf('Retiring').getByRole('button').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await rowOf('Retiring').waitFor({ state: 'detached' })
    expect((await ask(old, '/dashboard/info')).status).toBe(401)
    browser.expectNoProblems()
  })

  it('sign out with the reason if they are revoked by their own session', async () => {
    const primary = await calls.register('mary@example.com')
    const page = await openPage(await create(primary, 'Laptop', ['read', 'manage']))
    expect(await rowOf('primary').getByRole('button').count()).toBe(0)
    await page.getByRole('button', { name: 'Revoke Laptop' }).click()
    await page.getByRole('dialog').getByText('you will be signed out').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You were signed out.').waitFor()
    await page.getByText('You revoked the key of this session').waitFor()
    browser.expectNoProblems()
  })

  it('are restricted to addresses only with that of the caller, unless it insists', async () => {
    const apiKey = await calls.register('edith@example.com')
    const page = await openPage(apiKey)
    await page.getByLabel('Addresses').fill('203.0.113.7')
    await page.getByRole('button', { name: 'Save for all keys' }).click()
    const warning = page.getByRole('dialog', { name: 'You would lock yourself out' })
    await warning.getByText('which is yours as the service sees it').waitFor()
    await browser.photograph('lock-out')
    await browser.expectAccessible()
    expect(await warning.getByRole('button', { name: 'Lock this console out' }).isDisabled()).toBe(true)
    expect((await ask(apiKey, '/dashboard/info')).json).toMatchObject({ allowedIPs: null })
    await warning.getByRole('button', { name: 'Allow 127.0.0.1 too' }).click()
    await warning.waitFor({ state: 'detached' })
    await page.getByText('Restrictions changed').waitFor()
    expect((await ask(apiKey, '/dashboard/info')).json).toMatchObject({
      allowedIPs: ['203.0.113.7', '127.0.0.1'],
    })
    await page.getByLabel('Addresses').fill('203.0.113.7')
    await page.getByRole('button', { name: 'Save for all keys' }).click()
    await warning.getByLabel('Type lock out to confirm').fill('lock out')
    await warning.getByRole('button', { name: 'Lock this console out' }).click()
    await page.getByText('The API key may not be used from 127.0.0.1').first().waitFor()
    browser.expectNoProblems()
  })

  it('are restricted to hosts without that of the console only after a word was typed', async () => {
    const apiKey = await calls.register('hedy@example.com')
    const page = await openPage(apiKey)
    await page.getByLabel('Hosts of web pages').fill('shop.example')
    await page.getByRole('button', { name: 'Save for all keys' }).click()
    const warning = page.getByRole('dialog', { name: 'You would lock yourself out' })
    await warning.getByText('127.0.0.1').waitFor()
    await warning.getByRole('button', { name: 'Cancel' }).click()
    expect((await ask(apiKey, '/dashboard/info')).json).toMatchObject({ allowedRef: null })
    await page.getByLabel('Hosts of web pages').fill('shop.example 127.0.0.1')
    await page.getByRole('button', { name: 'Save for all keys' }).click()
    await page.getByText('Restrictions changed').waitFor()
    browser.expectNoProblems()
  })

  it('grant only the scopes that they have, and the refusal names the one that is missing', async () => {
    const primary = await calls.register('lise@example.com')
    const page = await openPage(await create(primary, 'Reader', ['read']))
    expect(await page.getByRole('checkbox', { name: 'manage' }).isDisabled()).toBe(true)
    await page.getByLabel('Name').fill('Another reader')
    await page.getByRole('checkbox', { name: 'read' }).check()
    await page.getByRole('button', { name: 'Create the key' }).click()
    await page.getByRole('alert').getByText('Sign in with a key that has the scope manage').waitFor()
    browser.expectNoProblems()
  })
})
