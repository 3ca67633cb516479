import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { reservePort } from '../support/reservePort.js'
import { startService, type TestService } from '../support/service.js'
import {
  actBeforeRequest,
  type ConsoleBrowser,
  createCalls,
  openConsole,
  signInWith,
  waitForCount,
  waitForHeadingFocus,
  waitUntilLive,
} from './support.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('a session of the console', () => {
  const database = useTestDatabase({ isSandbox: true })
  const environment = { SANDBOX: 'true', PROJECTS_PER_MAILBOX: '1' }
  let port: number
  let service: TestService
  let browser: ConsoleBrowser
  const start = async () => {
    service = await startService({ databaseUrl: database.url, environment, port })
  }
  beforeAll(async () => {
    port = await reservePort()
    await start()
    browser = await openConsole(chromium ?? '', service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })
  afterEach(() => browser.page.unrouteAll({ behavior: 'ignoreErrors' }))

  const rows = () => browser.page.getByRole('table', { name: 'Payments, newest first' }).locator('tbody tr')

  it('goes on after a restart of the service: it says that it is not live, and misses no payment', async () => {
    const calls = createCalls(service.url)
    const apiKey = await calls.register('restart@example.com')
    const { page } = browser
    await page.goto(`${service.url}/console/payments`)
    await signInWith(page, apiKey)
    await waitUntilLive(page)
    await calls.settle('CAFE11', apiKey)
    await waitForCount(rows(), 1)
    await service.close()
    await page.getByText('Not live').waitFor()
    await browser.photograph('not-live')
    await start()
    // Most likely before the page asks again.
    for (const _ of [1, 2, 3]) await calls.settle('CAFE11', apiKey)
    await waitUntilLive(page)
    await waitForCount(rows(), 4)
    await waitForCount(rows().getByText('Confirmed'), 4)
    browser.expectNoProblems()
  })

  it('ends when its key is revoked, with the reason, and comes back to the same page', async () => {
    const calls = createCalls(service.url)
    const apiKey = await calls.register('revoked@example.com')
    const { page } = browser
    await page.goto(`${service.url}/console/payments?status=failed`)
    await signInWith(page, apiKey)
    await waitUntilLive(page)
    let rotated: unknown
    await actBeforeRequest(page, '**/dashboard/settlements*network=tron*', async () => {
      rotated = await calls.post('/dashboard/rotate', {}, apiKey)
    })
    await page.getByLabel('Network').selectOption('tron:nile')
    await page.getByText('You were signed out. The API key is not valid.').waitFor()
    await browser.expectAccessible()
    await browser.photograph('signed-out')
    await signInWith(page, JSON.stringify(rotated).match(/qtn_sk_test_\w+/)?.[0] ?? '')
    await page.getByText('No payment matches').waitFor()
    expect(page.url()).toMatch(/\/console\/payments\?status=failed&network=tron/)
    browser.expectNoProblems()
  })

  it('keeps the key in memory, and in the tab only if asked to: never in an address or a cookie', async () => {
    const apiKey = await createCalls(service.url).register('memory@example.com')
    const { page } = browser
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    const readStored = () =>
      page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])')
    await page.goto(`${service.url}/console`)
    await signInWith(page, apiKey)
    expect(await readStored()).toBe('[{},{},""]')
    await page.reload()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    await page.getByLabel('Remember the key').check()
    await signInWith(page, apiKey)
    await page.reload()
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    expect(await readStored()).toBe(`[{"quittance.key":"${apiKey}"},{},""]`)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await readStored()).toBe('[{},{},""]')
    expect(requested.filter((url) => url.includes(apiKey))).toEqual([])
    expect(await page.content()).not.toContain(apiKey)
    browser.expectNoProblems()
  })

  it('refuses a wrong key in the form, and says why a registration is refused', async () => {
    const { page } = browser
    await page.goto(`${service.url}/console`)
    await page.getByLabel('API key', { exact: true }).fill('qtn_sk_test_wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByText('The API key is not valid').waitFor()
    expect(await page.getByLabel('API key', { exact: true }).inputValue()).toBe('qtn_sk_test_wrong')
    const register = async (projectName: string) => {
      await page.getByLabel('E-mail address').fill('twice@example.com')
      await page.getByLabel('Project', { exact: true }).fill(projectName)
      await page.getByRole('button', { name: 'Get a key' }).click()
    }
    await register('First')
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
    await register('First')
    await page.getByText('This project has a key already').waitFor()
    await register('Second')
    await page.getByText('FORBIDDEN').waitFor()
    await browser.expectAccessible()
    await browser.photograph('refused')
    browser.expectNoProblems()
  })

  it('can be used with the keyboard alone', async () => {
    const apiKey = await createCalls(service.url).register('keyboard@example.com')
    await createCalls(service.url).settle('CAFE11', apiKey)
    const { page } = browser
    await page.goto(`${service.url}/console`)
    await page.keyboard.press('Tab')
    expect(await page.evaluate<string>('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.type(apiKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Overview' }).waitFor()
    await waitForCount(rows(), 1)
    await waitForHeadingFocus(page)
    await rows().getByRole('link').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Payment', exact: true }).waitFor()
    await waitForHeadingFocus(page)
    browser.expectNoProblems()
  })
})
