import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { operatorOverview } from '../../src/protocol/operatorOverview.js'
import { findChromium } from '../support/chromium.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type ConsoleBrowser, createCalls, openConsole, stopClock, waitForCount } from './support.js'

const chromium = findChromium()
const token = 'an-operator-token-of-some-length'
const network = 'eip155:84532'
const markup = '<img src=x onerror=alert(1)><b>Report shop</b>'
const titles = ['Operator', 'Callers', 'Accounts', 'Pauses', 'Settlements', 'Audit']

const signerOf = (digit: string) => `0x${digit.repeat(40)}`
const laneOf = (digit: string, nextNonce: string, unconfirmed: number) => ({
  network,
  signer: signerOf(digit),
  nextNonce,
  holder: null,
  unconfirmed,
  oldestSeconds: unconfirmed === 0 ? null : 184,
})

const up = {
  isUp: true,
  head: '21000000',
  lagBlocks: '0',
  latencyMs: 31.24,
  wrongChain: null,
  lastFailure: null,
}
const nodesAndSigners = {
  balanceLevel: 'low',
  endpoints: [
    { ...up, host: 'base-sepolia.rpc-of-a-provider-with-a-long-name.example:8545' },
    { ...up, host: 'b.example', latencyMs: 2_310, lagBlocks: '1', wrongChain: 'eip155:8453' },
    {
      ...up,
      host: 'c.example',
      isUp: false,
      lagBlocks: '1204',
      lastFailure: {
        message: 'No valid response from c.example: connect ECONNREFUSED 203.0.113.7:443, 3 times in a row',
        at: '2026-01-01T00:00:00.000Z',
      },
    },
    { ...up, host: 'd.example', isUp: false, head: null, lagBlocks: null, latencyMs: null },
  ],
  signers: [
    {
      address: signerOf('0'),
      balance: '49998765432100000',
      settlementsLeft: 1_204_113,
      daysLeft: 4_000,
      laneRepairs: 0,
    },
    {
      address: signerOf('1'),
      balance: '912345678901234567890',
      settlementsLeft: 48,
      daysLeft: 0.42,
      laneRepairs: 12,
    },
    { address: signerOf('2'), balance: '7', settlementsLeft: 0, daysLeft: null, laneRepairs: null },
  ],
} as const

describe.skipIf(chromium === null)("the operator's pages of the console", () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let calls: ReturnType<typeof createCalls>
  let browser: ConsoleBrowser
  beforeAll(async () => {
    service = await startService({
      databaseUrl: database.url,
      environment: { SANDBOX: 'true', RATE_LIMITS: 'off', OPERATOR_TOKEN: token },
    })
    calls = createCalls(service.url)
    browser = await openConsole(chromium ?? '', service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })
  afterEach(() => browser.page.unrouteAll({ behavior: 'ignoreErrors' }))

  const enter = async (text = token) => {
    const { page } = browser
    await page.getByLabel('Operator token').fill(text)
    await page.getByRole('button', { name: 'Open' }).click()
  }
  /** In a tab that forgot its token. */
  const open = async (view: string) => {
    const { page } = browser
    await page.goto(`${service.url}/console/operator${view === '' ? '' : `/${view}`}`)
    await enter()
    await page.getByRole('button', { name: 'Forget the token' }).waitFor()
    return page
  }
  const goTo = (page: ConsoleBrowser['page'], view: string) =>
    page.getByRole('navigation', { name: 'Operator' }).getByRole('link', { name: view }).click()
  const ask = async (path: string) => {
    const response = await fetch(`${service.url}${path}`, { headers: { authorization: `Bearer ${token}` } })
    return await response.json()
  }
  const readSupported = async () =>
    z
      .object({ kinds: z.array(z.object({ network: z.string() })) })
      .parse(await ask('/supported'))
      .kinds.map((kind) => kind.network)
  const findAccount = async (search: string) => {
    const { accounts } = z
      .object({ accounts: z.array(z.object({ id: z.string(), tier: z.string(), status: z.string() })) })
      .parse(await ask(`/v1/operator/accounts?search=${search}`))
    return accounts[0]
  }
  const readActions = async () =>
    z.object({ entries: z.array(z.object({ action: z.string() })) }).parse(await ask('/v1/operator/audit'))
      .entries

  it('are found from the sign-in, refuse another token, and take the one of the instance', async () => {
    const { page } = browser
    await page.goto(`${service.url}/console`)
    await page.getByRole('link', { name: 'I operate this instance' }).click()
    await enter('another-operator-token-of-some-length')
    await page.getByRole('alert').getByText('Operators only').waitFor()
    await browser.expectAccessible()
    await enter()
    await page.getByText('Needs attention').waitFor()
    expect(page.url()).toBe(`${service.url}/console/operator`)
    expect(await page.evaluate<number>('sessionStorage.length + localStorage.length')).toBe(0)
    expect(await page.content()).not.toContain(token)
    await page.getByRole('button', { name: 'Forget the token' }).click()
    await page.getByLabel('Operator token').waitFor()
    browser.expectNoProblems()
  })

  it('stay open over a reload only where that was asked for, and close when the token is refused', async () => {
    const { page } = browser
    await page.goto(`${service.url}/console/operator`)
    await page.getByLabel('Remember the token').check()
    await enter()
    await page.getByText('Needs attention').waitFor()
    await page.reload()
    await page.getByText('Needs attention').waitFor()
    await page.evaluate("sessionStorage.setItem('quittance.operator', 'a-token-that-was-changed-meanwhile')")
    await page.reload()
    await page.getByRole('alert').getByText('You were signed out. Operators only').waitFor()
    expect(await page.evaluate("sessionStorage.getItem('quittance.operator')")).toBeNull()
  })

  it('are readable in both themes and both widths, every one', async () => {
    const apiKey = await calls.register('grace@example.com', markup.slice(0, 40))
    await calls.settle('CAFE11', apiKey)
    await calls.settle('CAFE13', apiKey)
    const page = await open('')
    for (const title of titles) {
      if (title !== 'Operator') await goTo(page, title)
      await page.getByRole('heading', { name: title, level: 1 }).waitFor()
      await waitForCount(page.getByText('Loading …'), 0)
      await browser.expectReadable(`operator-${title}`)
    }
    browser.expectNoProblems()
  })

  it('show endpoints and signers with units, readable in both themes and both widths', async () => {
    await browser.page.route('**/v1/operator/overview', async (route) => {
      const answered = await route.fetch()
      const overview = operatorOverview.parse(await answered.json())
      const [first, ...rest] = overview.instance.networks
      if (first === undefined) throw new Error('The service has no network')
      const networks = [{ ...first, ...nodesAndSigners }, ...rest.slice(0, 1)]
      const lanes = [laneOf('0', '48113', 0), laneOf('1', '1204', 3)]
      const { instance, shared } = overview
      await route.fulfill({
        json: { ...overview, instance: { ...instance, networks }, shared: { ...shared, lanes } },
      })
    })
    const page = await open('')
    const signers = page.getByRole('table', { name: 'Signers of Base Sepolia' })
    await signers.getByText('over a year').waitFor()
    const endpoints = page.getByRole('table', { name: 'Endpoints of Base Sepolia' })
    await endpoints.getByText('1,204 blocks').waitFor()
    await endpoints.getByText('2.3 s').waitFor()
    await signers.getByText('0.049998', { exact: true }).waitFor()
    await page.getByText('It has no endpoints and no signers.').waitFor()
    await browser.expectReadable('operator-rows')
    await page.unrouteAll({ behavior: 'wait' })
    browser.expectNoProblems()
  })

  it('show an instance whose jobs fail and whose pools are exhausted, readable in both themes and both widths', async () => {
    const anHourAgo = new Date(Date.now() - 59 * 60_000).toISOString()
    await browser.page.route('**/v1/operator/overview', async (route) => {
      const answered = await route.fetch()
      const overview = operatorOverview.parse(await answered.json())
      const { instance } = overview
      const failed = { failures: 12_345, failedAt: anHourAgo, succeededAt: anHourAgo }
      const jobs = instance.jobs.map((job) => ({ ...job, ...failed }))
      const pools = instance.pools.map((pool) => ({ ...pool, total: 500, max: 500, waiting: 12_345 }))
      await route.fulfill({ json: { ...overview, instance: { ...instance, jobs, pools } } })
    })
    const page = await open('')
    await page.getByText('12,345 wait for a connection').first().waitFor()
    await browser.expectReadable('operator-troubled')
    await page.unrouteAll({ behavior: 'wait' })
    browser.expectNoProblems()
  })

  it('show networks and jobs of this instance, and what all instances share', async () => {
    const page = await open('')
    await page.getByRole('region', { name: 'Base Sepolia' }).getByText('Serving').waitFor()
    const jobs = page.getByRole('table', { name: 'Jobs of this instance' })
    await jobs.getByText('shared').first().waitFor()
    await page.getByRole('heading', { name: 'All instances on one database' }).waitFor()
    await page.getByRole('table', { name: 'Instances', exact: true }).getByText('Alive').waitFor()
  })

  it('read the overview again while one looks, one request at a time, and say when it is stale', async () => {
    const page = await open('')
    await page.getByText('Needs attention').waitFor()
    let waiting = 0
    let most = 0
    let asked = 0
    const end = (request: { url(): string }) => {
      if (request.url().endsWith('/v1/operator/overview')) waiting -= 1
    }
    // The first is answered only after the page gave it up.
    await page.route('**/v1/operator/overview', async (route) => {
      asked += 1
      waiting += 1
      most = Math.max(most, waiting)
      if (asked === 1) await page.getByText('This is not current').waitFor()
      await route.abort()
    })
    page.on('requestfailed', end)
    await page.getByText('This is not current').waitFor()
    await page.getByText('The service cannot be reached').waitFor()
    await pollUntil(async () => asked > 1, 'the second request')
    expect(most).toBe(1)
    page.off('requestfailed', end)
    await page.unroute('**/v1/operator/overview')
    await waitForCount(page.getByText('This is not current'), 0)
  })

  it('pause a network after a question, which /supported obeys, and resume it', async () => {
    const page = await open('pauses')
    const dialog = page.getByRole('dialog')
    await page.getByLabel('Network').selectOption(network)
    await page.getByLabel('Reason, which callers read').fill(markup)
    await page.getByRole('button', { name: 'Pause …' }).click()
    await dialog.getByText('Goes on:').waitFor()
    await browser.expectAccessible()
    await browser.photograph('operator-pause-question')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await readSupported()).toContain(network)
    await page.getByRole('button', { name: 'Pause …' }).click()
    await dialog.getByLabel('Your name').fill('Ada')
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    const row = page
      .getByRole('table', { name: 'Pauses, oldest first' })
      .getByRole('row')
      .filter({ hasText: 'Ada' })
    await row.getByText(markup).waitFor()
    expect(await readSupported()).not.toContain(network)
    await goTo(page, 'Overview')
    await page.locator('.matters').getByText('All on Base Sepolia is paused').waitFor()
    await page.locator('.matters').getByText(markup).waitFor()
    await browser.photograph('operator-paused')
    await page.getByRole('link', { name: 'Show what is paused' }).click()
    await row.getByRole('button', { name: 'Resume' }).click()
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Nothing is paused.').waitFor()
    expect(await readSupported()).toContain(network)
    await goTo(page, 'Audit')
    await page
      .getByRole('table', { name: /^Actions/ })
      .getByText(markup)
      .first()
      .waitFor()
    await waitForCount(page.locator('main img'), 0)
    browser.expectNoProblems()
  })

  it('pause an account, and show why a target is refused', async () => {
    await calls.register('joan@example.com')
    const account = await findAccount('joan@')
    const page = await open('pauses')
    const dialog = page.getByRole('dialog')
    await page.getByLabel('What').selectOption('account')
    await page.getByLabel('Account id').fill('joan')
    await page.getByLabel('Reason, which callers read').fill('Write to support')
    await page.getByRole('button', { name: 'Pause …' }).click()
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await dialog.getByRole('alert').getByText('INVALID_REQUEST').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByLabel('Account id').fill(account?.id ?? '')
    await page.getByRole('button', { name: 'Pause …' }).click()
    await dialog.getByRole('button', { name: 'Pause', exact: true }).click()
    await page.getByText(`the account ${account?.id}`).waitFor()
    await page.getByRole('button', { name: `Resume the account ${account?.id}` }).click()
    await dialog.getByRole('button', { name: 'Resume' }).click()
    await page.getByText('Nothing is paused.').waitFor()
  })

  it('keep what is typed into the search before the page has run its effects', async () => {
    const page = await open('')
    await stopClock(page)
    const search = page.getByLabel('Id, or the beginning')
    try {
      await goTo(page, 'Accounts')
      await search.fill('ada@')
    } finally {
      await page.clock.resume()
    }
    await waitForCount(page.getByText('Loading …'), 0)
    expect(await search.inputValue()).toBe('ada@')
  })

  it('find an account, grant a tier and revoke it after questions, and the audit says so', async () => {
    await calls.register('ada@example.com', markup.slice(0, 40))
    const page = await open('accounts')
    const dialog = page.getByRole('dialog')
    const rows = page.getByRole('table', { name: 'Accounts' }).locator('tbody').getByRole('row')
    await page.getByLabel('Id, or the beginning').fill('ada@')
    await page.getByRole('button', { name: 'Find' }).click()
    await waitForCount(rows, 1)
    await rows.getByText(markup.slice(0, 40)).waitFor()
    await rows.getByRole('combobox').selectOption('scale')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    expect(await rows.getByRole('combobox').inputValue()).toBe('free')
    expect(await findAccount('ada@')).toMatchObject({ tier: 'free' })
    await rows.getByRole('combobox').selectOption('scale')
    await dialog.getByRole('button', { name: 'Grant scale' }).click()
    await waitForCount(dialog, 0)
    expect(await rows.getByRole('combobox').inputValue()).toBe('scale')
    expect(await findAccount('ada@')).toMatchObject({ tier: 'scale' })
    await rows.getByRole('button', { name: 'Revoke' }).click()
    const confirm = dialog.getByRole('button', { name: 'Revoke' })
    expect(await confirm.isDisabled()).toBe(true)
    await dialog.getByLabel('to confirm').fill('revoke')
    await confirm.click()
    await rows.getByText('Revoked').first().waitFor()
    expect(await findAccount('ada@')).toMatchObject({ status: 'revoked' })
    expect((await readActions()).slice(0, 2).map(({ action }) => action)).toEqual([
      'account.revoked',
      'tier.changed',
    ])
    await goTo(page, 'Audit')
    await page
      .getByRole('table', { name: /^Actions/ })
      .getByText('tier.changed')
      .waitFor()
    await waitForCount(page.locator('main img'), 0)
    browser.expectNoProblems()
  })

  it('send a delivery of any account again, and say that there is none', async () => {
    const apiKey = await calls.register('mary@example.com')
    const inbox = z.object({ url: z.string() }).parse(await calls.post('/sandbox/inbox', { failures: 0 }))
    await calls.post('/dashboard/webhook', { webhookUrl: inbox.url }, apiKey)
    await calls.settle('CAFE11', apiKey)
    const readDelivery = async () => {
      const response = await fetch(`${service.url}/dashboard/webhook/deliveries?status=delivered`, {
        headers: { 'x-api-key': apiKey },
      })
      const page = z
        .object({ deliveries: z.array(z.object({ id: z.string() })) })
        .parse(await response.json())
      return page.deliveries[0] ?? null
    }
    const delivery = await pollUntil(readDelivery, 'a delivery')
    const page = await open('accounts')
    const dialog = page.getByRole('dialog')
    const send = async (id: string) => {
      await page.getByLabel('Id of the delivery').fill(id)
      await page.getByRole('button', { name: 'Send it again' }).click()
      await dialog.getByRole('button', { name: 'Send' }).click()
    }
    await send(randomUUID())
    await dialog.getByRole('alert').getByText('NOT_FOUND').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await send(delivery.id)
    await page.getByText('It is due.').waitFor()
  })

  it('list callers with their reasons, and settlements of all accounts by status', async () => {
    const apiKey = await calls.register('edith@example.com')
    await calls.settle('CAFE11', apiKey)
    const account = await findAccount('edith@')
    const page = await open('callers')
    await page
      .getByRole('table', { name: 'Ask most' })
      .getByText(account?.id ?? '')
      .waitFor()
    await goTo(page, 'Settlements')
    await page.getByLabel('Status').selectOption('confirmed')
    const table = page.getByRole('table', { name: 'Settlements, newest first' })
    await table.getByTitle(account?.id ?? '').waitFor()
    await page.getByLabel('Network').selectOption('solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1')
    await page.getByText('No settlements match.').waitFor()
  })
})
