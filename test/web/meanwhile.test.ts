import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findChromium } from '../support/chromium.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import {
  type ConsoleBrowser,
  createCalls,
  openConsole,
  openLivePage,
  stopClock,
  twoFrames,
  waitForCount,
  waitForHeadingFocus,
  waitForRefusedFeed,
} from './support.js'

const chromium = findChromium()
const token = 'an-operator-token-of-some-length'
const payee = '0x209693Bc6afc0C5328bA36FaF03C514EF312287C'
const payer = '0x18f77dd01186556F1F745E7847A4686421dEE072'

/* What a user does and sees while the page still waits: for its effects, for a frame, or for an answer. */
describe.skipIf(chromium === null)('a page of the console that still waits', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let calls: ReturnType<typeof createCalls>
  let browser: ConsoleBrowser
  beforeAll(async () => {
    service = await startService({
      databaseUrl: database.url,
      environment: {
        SANDBOX: 'true',
        RATE_LIMITS: 'off',
        OPERATOR_TOKEN: token,
      },
    })
    calls = createCalls(service.url)
  })
  afterAll(() => service.close())
  // A clock or a route of one test must not reach the next one.
  beforeEach(async () => {
    browser = await openConsole(chromium ?? '', service.url)
    // The page gives no request up while a test looks at it.
    await browser.page.addInitScript('AbortSignal.timeout = () => new AbortController().signal')
  })
  afterEach(async () => {
    await browser.close()
    browser.expectNoProblems()
  })

  const createIntent = (apiKey: string) =>
    calls.post('/v1/intent', { payer, payee, amount: '10000', asset: 'USDC' }, apiKey)
  const createKey = async (apiKey: string): Promise<string> => {
    const key = { name: 'Laptop', scopes: ['read', 'manage'] }
    return z.object({ apiKey: z.string() }).parse(await calls.post('/dashboard/api-keys', key, apiKey)).apiKey
  }
  /** Keeps requests from the service, until the function is called that it returns. */
  const holdRequests = async (url: string) => {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    await browser.page.route(url, async (route) => {
      await released
      await route.continue()
    })
    return release
  }
  const resumeClock = async (title: string) => {
    const { page } = browser
    await page.clock.resume()
    // An effect of the page sets it.
    await pollUntil(async () => (await page.title()) === `${title} · quittance`, `the title ${title}`)
    await page.evaluate(twoFrames)
  }

  it('leaves the focus in a field that its user types into since the page was loaded', async () => {
    const { page } = browser
    const part = '**/console/assets/part-OperatorPage*'
    const answer = await holdRequests(part)
    await Promise.all([page.waitForRequest(part), page.goto(`${service.url}/console/operator`)])
    await stopClock(page)
    answer()
    const field = page.getByLabel('Operator token')
    await field.focus()
    await page.keyboard.type('first')
    await resumeClock('Operator')
    await page.keyboard.type(' second')
    expect(await field.inputValue()).toBe('first second')
  })

  it('leaves the focus where its user moved it after a link, and moves it from the link to the heading', async () => {
    const { page } = browser
    await page.goto(`${service.url}/console`)
    const link = page.getByRole('link', { name: 'Explain' })
    const focused = () => page.evaluate<string>('document.activeElement.textContent')
    await link.press('Enter')
    await page.getByLabel('Body of /verify').waitFor()
    await waitForHeadingFocus(page)
    await page.goBack()
    await stopClock(page)
    await link.press('Enter')
    await page.getByLabel('Body of /verify').focus()
    await resumeClock('Explain')
    await page.keyboard.type('{}')
    expect(await page.getByLabel('Body of /verify').inputValue()).toBe('{}')
    await page.goBack()
    await page.clock.pauseAt(Date.now() + 120_000)
    await link.press('Enter')
    await page.keyboard.press('Shift+Tab')
    expect(await focused()).toBe('Playground')
    await resumeClock('Explain')
    expect(await focused()).toBe('Playground')
  })

  it('keeps a list readable while an event reloads it, and dims that of another filter', async () => {
    const apiKey = await calls.register('ada@example.com')
    await createIntent(apiKey)
    const { page } = browser
    await openLivePage(page, { url: `${service.url}/console/intents`, apiKey })
    const rows = page.getByRole('table', { name: 'Intents, newest first' }).locator('tbody tr')
    await waitForCount(rows, 1)
    const dimmed = page.locator('.stale')
    const answerEvent = await holdRequests('**/v1/intent?*')
    await createIntent(apiKey)
    await page.locator('[aria-busy="true"]').waitFor()
    await browser.expectAccessible()
    expect(await dimmed.count()).toBe(0)
    answerEvent()
    await waitForCount(rows, 2)
    const answerFilter = await holdRequests('**/v1/intent?*status=*')
    await page.getByLabel('Status').selectOption('Cancelled')
    await dimmed.waitFor()
    answerFilter()
    await page.getByText('No intents match.').waitFor()
    await waitForCount(dimmed, 0)
  })

  it("keeps the operator's figures readable while the next answer is late, and says how old they are", async () => {
    const { page } = browser
    await page.clock.install()
    await page.goto(`${service.url}/console/operator`)
    await page.getByLabel('Operator token').fill(token)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('Needs attention').waitFor()
    const answer = await holdRequests('**/v1/operator/overview')
    await page.clock.fastForward(13_000)
    await page.getByText('This is not current.').waitFor()
    await browser.expectAccessible()
    answer()
    await waitForCount(page.getByText('This is not current.'), 0)
  })

  it('keeps what is typed into the restrictions before the account is read again', async () => {
    const apiKey = await calls.register('edith@example.com')
    const { page } = browser
    await openLivePage(page, { url: `${service.url}/console/keys`, apiKey })
    const [addresses, hosts] = [page.getByLabel('Addresses'), page.getByLabel('Hosts of web pages')]
    await addresses.fill('203.0.113.7')
    await page.getByRole('button', { name: 'Save for all keys' }).click()
    const answer = await holdRequests('**/dashboard/info')
    await page.getByRole('button', { name: 'Allow 127.0.0.1 too' }).click()
    await page.getByText('Restrictions changed').waitFor()
    expect(await addresses.inputValue()).toBe('203.0.113.7\n127.0.0.1')
    await hosts.fill('127.0.0.1')
    const [answered] = await Promise.all([page.waitForResponse('**/dashboard/info'), answer()])
    await answered.finished()
    await page.evaluate(twoFrames)
    expect(await hosts.inputValue()).toBe('127.0.0.1')
  })

  it('asks again for the names of networks and tokens while the service does not answer', async () => {
    const apiKey = await calls.register('grace@example.com')
    await calls.settle('CAFE11', apiKey)
    const { page } = browser
    const names = '**/console/networks.json'
    await page.route(names, (route) => route.abort())
    await openLivePage(page, { url: `${service.url}/console/payments`, apiKey })
    const table = page.getByRole('table', { name: 'Payments, newest first' })
    await table.getByText('units of').waitFor()
    await page.unroute(names)
    await table.getByText('USDC').waitFor()
    await waitForCount(table.getByText('units of'), 0)
  })

  it('says that its own key was revoked, although the feed is refused before the answer is here', async () => {
    const primary = await calls.register('mary@example.com')
    const apiKey = await createKey(primary)
    const { page } = browser
    await openLivePage(page, { url: `${service.url}/console/keys`, apiKey })
    await page.route('**/dashboard/api-keys/*', async (route) => {
      const refused = waitForRefusedFeed(page)
      const response = await route.fetch()
      // An event ends the request that waits for one; the next one is refused.
      await calls.settle('CAFE11', primary)
      await refused
      await route.fulfill({ response })
    })
    await page.getByRole('button', { name: 'Revoke Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You were signed out. You revoked the key of this session.').waitFor()
  })

  it('ends the session of a key that was revoked elsewhere, once it is to revoke itself', async () => {
    const primary = await calls.register('rosa@example.com')
    const apiKey = await createKey(primary)
    const { page } = browser
    await openLivePage(page, { url: `${service.url}/console/keys`, apiKey })
    // The next request for events would end the session, too.
    await holdRequests('**/v1/events*')
    await page.route('**/dashboard/api-keys/*', async (route) => {
      const headers = { authorization: `Bearer ${primary}` }
      await fetch(route.request().url(), { method: 'DELETE', headers })
      await route.continue()
    })
    await page.getByRole('button', { name: 'Revoke Laptop' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('You were signed out. The API key is not valid.').waitFor()
  })
})
