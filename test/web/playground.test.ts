import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { createCalls, readReason, signInWith } from './support.js'
import { openPlayground, type Playground } from './walk.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('the playground of a sandbox', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let browser: Playground
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    browser = await openPlayground(chromium ?? '', service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })

  it('walks through a payment step by step, without a key, and shows each header and body', async () => {
    const { page, take, waitFor, find, readContent } = browser
    await page.goto(`${service.url}/console`)
    await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).click()
    await page.getByRole('heading', { name: 'CAFE11' }).waitFor()
    for (const step of ['Sign', 'Verify', 'Settle'] as const) {
      expect(await find(step).getByRole('button', { name: step, exact: true }).isDisabled()).toBe(true)
    }
    await take('402 Payment Required')
    await waitFor('402 Payment Required', '402 Payment Required')
    const required = JSON.parse(await readContent('Header PAYMENT-REQUIRED', 'Decoded'))
    expect(required).toMatchObject({
      x402Version: 2,
      accepts: [{ amount: '10000', extra: { name: 'USDC' } }],
    })
    const raw = await readContent('Header PAYMENT-REQUIRED', 'Raw')
    expect(JSON.parse(Buffer.from(raw, 'base64').toString())).toEqual(required)

    await take('Sign')
    await waitFor('Sign', 'Written')
    const sent = JSON.parse(await readContent('Header PAYMENT-SIGNATURE', 'Decoded'))
    await take('Verify')
    await waitFor('Verify', 'Valid')
    await find('Verify').locator('summary').click()
    const body = await readContent('Body of POST /verify', 'Raw')
    expect(JSON.parse(body)).toEqual({
      x402Version: 2,
      paymentPayload: sent,
      paymentRequirements: required.accepts[0],
    })
    expect(await readContent('Body of POST /verify', 'Decoded')).toBe(
      JSON.stringify(JSON.parse(body), null, 2),
    )
    const answer = await readContent('Body of the answer to POST /verify', 'Raw')
    expect(JSON.parse(answer)).toMatchObject({ sandbox: true, isValid: true })
    expect(await find('Verify').locator('summary').textContent()).toMatch(/^POST \/verify\s*200\s*\d+ ms$/)

    await take('Settle')
    await waitFor('Settle', 'Settled')
    const receipt = JSON.parse(await readContent('Header PAYMENT-RESPONSE', 'Decoded'))
    expect(receipt).toMatchObject({ success: true, amount: '10000' })
    await take('Settle')
    await waitFor('Settle', 'Settled, and answered again')
    await page.getByRole('button', { name: 'Settle for another order' }).click()
    await waitFor('Settle', 'duplicate_settlement')
    const link = page.getByRole('link', { name: 'Open the payment' })
    expect(await link.getAttribute('href')).toBe(`/console/payments/${receipt.settlementId}`)
    browser.expectNoProblems()
    await link.click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('stops where a server stops: at a refusal by /verify, and at a failure of /settle', async () => {
    const { page, start, choose, runAll, take, waitFor, find } = browser
    await start()
    await choose(/^CAFE02/)
    await runAll()
    await waitFor('Verify', 'Refused')
    const reason = (await find('Verify').locator('.meaning code').textContent()) ?? ''
    const { remedy } = await readReason(service.url, reason)
    await find('Verify').locator('.meaning').getByText(remedy).waitFor()
    expect(await find('Settle').locator('.meaning').count()).toBe(0)
    await take('Settle')
    await waitFor('Settle', 'Not settled')

    await choose(/^CAFE12/)
    await page.getByRole('heading', { name: 'CAFE12' }).waitFor()
    expect(await find('Verify').locator('.meaning').count()).toBe(0)
    await runAll()
    await waitFor('Settle', 'insufficient_funds')
    await waitFor('Verify', 'Valid')
    await find('Settle').locator('.meaning').getByText('Fund the payer').waitFor()
    browser.expectNoProblems()
  })

  it('moves the clock of a script until its payment is confirmed, and shows the payment to its project', async () => {
    const apiKey = await createCalls(service.url).register('scripts@example.com')
    const { page, choose, runAll, waitFor } = browser
    await page.goto(`${service.url}/console`)
    await signInWith(page, apiKey)
    await page.getByRole('navigation').getByRole('link', { name: 'Playground' }).click()
    await choose(/^Pending for 45 s, then confirmed/)
    await runAll()
    await waitFor('Settle', 'Pending')
    await page.getByRole('button', { name: 'Move the clock by 46 s' }).click()
    await waitFor('Settle', 'Confirmed')
    expect(await page.locator('main').textContent()).not.toContain(apiKey)
    await page.getByRole('link', { name: 'Open the payment' }).click()
    await page.getByRole('heading', { name: 'Payment', exact: true }).waitFor()
    await page.getByText('Confirmed').first().waitFor()
    browser.expectNoProblems()
  })

  it('pays on every network of the sandbox', async () => {
    const { page, start, runAll, waitFor } = browser
    await start()
    const choice = page.getByLabel('Network').first()
    await choice.waitFor()
    const networks = await choice
      .locator('option')
      .evaluateAll((all) => all.map((each) => each.getAttribute('value')))
    expect(networks).toEqual(expect.arrayContaining(['eip155:84532', 'tron:nile']))
    for (const network of networks) {
      await choice.selectOption(network)
      await runAll()
      await waitFor('Settle', 'Settled')
    }
    browser.expectNoProblems()
  })

  it('is readable in both themes and both widths', async () => {
    const { page, start, choose, runAll, waitFor, find } = browser
    await start()
    await choose(/^CAFE12/)
    await browser.expectReadable('playground-start')
    await runAll()
    await waitFor('Settle', 'insufficient_funds')
    await find('Settle').locator('summary').click()
    await page.getByText('Or sign with a wallet').click()
    await page.getByRole('button', { name: 'Make a throw-away key' }).click()
    await page.getByText('The throw-away key pays').waitFor()
    await browser.expectReadable('playground')
    browser.expectNoProblems()
  })
})

describe.skipIf(chromium === null)('an instance that asks for a key', () => {
  const database = useTestDatabase({ isSandbox: true })
  it('has the playground and explanations behind the sign-in', async () => {
    const environment = { SANDBOX: 'true', API_KEY_REQUIRED: 'true', REGISTRATION: 'open' }
    const service = await startService({ databaseUrl: database.url, environment })
    const { page, start, runAll, waitFor, close } = await openPlayground(chromium ?? '', service.url)
    try {
      const apiKey = await createCalls(service.url).register('closed@example.com')
      await start()
      await signInWith(page, apiKey)
      await page.getByRole('heading', { name: 'CAFE11' }).waitFor()
      await runAll()
      await waitFor('Settle', 'Settled')
      await page.goto(`${service.url}/console/explain`)
      await signInWith(page, apiKey)
      await page.getByLabel(/^Body/).fill('{}')
      await page.getByRole('button', { name: 'Explain', exact: true }).click()
      await page.locator('.explained [role=status]').getByText('INVALID_REQUEST').waitFor()
    } finally {
      await close()
      await service.close()
    }
  })
})
