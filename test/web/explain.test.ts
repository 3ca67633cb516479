import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { toBase64 } from '../../web/src/playground/json.js'
import { findChromium } from '../support/chromium.js'
import { randomAddress } from '../support/evm/authorization.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxChain } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'
import { createCalls, openConsole } from './support.js'
import { walkIn } from './walk.js'

const chromium = findChromium()
const mismatch = 'invalid_exact_evm_payload_recipient_mismatch'
const markup = `<img src=x onerror="document.title='changed'">`

/** Signed for somebody else than the server asks for. */
const wrongRecipient = async () => {
  const [signed, asked] = [randomAddress(), randomAddress()]
  const body = await exactPayment({
    chain: sandboxChain,
    wallet: createEoa(),
    payTo: asked,
    authorization: { to: signed },
  })
  return { body, signed, asked }
}

const openExplain = async (url: string) => {
  const browser = await openConsole(chromium ?? '', url)
  const { page } = browser
  return {
    ...browser,
    start: () => page.goto(`${url}/console/explain`),
    fill: (label: RegExp, text: string) => page.getByLabel(label).fill(text),
    explain: () => page.getByRole('button', { name: 'Explain', exact: true }).click(),
    verdict: page.locator('.explained [role=status]'),
    rule: (title: string) => page.locator('.rule').filter({ hasText: title }),
  }
}

describe.skipIf(chromium === null)('explanations in the console', () => {
  const database = useTestDatabase({ isSandbox: true })
  let service: TestService
  let browser: Awaited<ReturnType<typeof openExplain>>
  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    browser = await openExplain(service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
  })

  it('show every rule in the order of the service, with what was found beside what is expected', async () => {
    const { body, signed, asked } = await wrongRecipient()
    const { page, fill, explain, verdict, rule } = browser
    await page.goto(`${service.url}/console`)
    await page.getByRole('navigation').getByRole('link', { name: 'Explain' }).click()
    await fill(/^Body/, JSON.stringify(body))
    await explain()
    await verdict.getByText('Invalid', { exact: true }).waitFor()
    expect(await verdict.textContent()).toMatch(
      new RegExp(`\\d+ rules passed, 1 failed, \\d+ skipped\\. ${mismatch}`),
    )
    const broken = rule('The payment goes to payTo of the requirements').filter({ hasText: 'Failed' })
    expect(await broken.locator('dl').textContent()).toMatch(
      new RegExp(`^Place\\S*authorization\\.toFound${signed}Expected${asked}$`, 'i'),
    )
    expect(await broken.locator('.advice').textContent()).toMatch(/^What to do: .*payTo/)
    const kept = rule('The client accepted the amount of the requirements').locator('details')
    expect(await kept.locator('dl').isVisible()).toBe(false)
    await kept.locator('summary').click()
    await kept.locator('dd').getByText('10000', { exact: true }).waitFor()
    const waiting = page.getByText('Waits for: The payment goes to payTo of the requirements')
    expect(await waiting.count()).toBeGreaterThan(0)
    await page.locator('.compared dt').getByText('The time of this facilitator').waitFor()
    const answer = z
      .object({ rules: z.array(z.object({ rule: z.string() })) })
      .parse(await createCalls(service.url).post('/v1/explain', body))
    expect(await page.locator('.rule-title code').allTextContents()).toEqual(
      answer.rules.map((each) => each.rule),
    )
    browser.expectNoProblems()
  })

  it('take a header in base64 with its requirements, and leave the payment free to be settled', async () => {
    const body = await exactPayment({ chain: sandboxChain, wallet: createEoa() })
    const { page, start, fill, explain, verdict } = browser
    await start()
    await page.getByRole('button', { name: 'Header and requirements' }).click()
    await fill(/^Header/, `PAYMENT-SIGNATURE: ${toBase64(body.paymentPayload)}`)
    await fill(/^Payment requirements/, JSON.stringify(body.paymentRequirements, null, 2))
    await explain()
    await verdict.getByText('Valid', { exact: true }).waitFor()
    expect(await page.locator('.rule.bad').count()).toBe(0)
    const settled = await createCalls(service.url).post('/settle', body)
    expect(settled).toMatchObject({ success: true })
    await explain()
    await verdict.getByText('Invalid', { exact: true }).waitFor()
    browser.expectNoProblems()
  })

  it('say where a text is no JSON, and ask the service nothing', async () => {
    const { page, start, fill, explain } = browser
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await start()
    await fill(/^Body/, '{\n  "x402Version": 2\n  "paymentPayload": {}\n}')
    await explain()
    const problem = page.getByRole('alert')
    await problem.getByText('line 3, column 3 must have a comma').waitFor()
    const field = page.getByLabel(/^Body/)
    expect(await field.getAttribute('aria-invalid')).toBe('true')
    await fill(/^Body/, `{"a":"${'x'.repeat(65_536)}"}`)
    await page.locator('.ask .problem:empty').waitFor({ state: 'attached' })
    await explain()
    await problem.getByText('at most 64 kB').waitFor()
    expect(asked).not.toContain('/v1/explain')
    browser.expectNoProblems()
  })

  it('name each field of a malformed body, and show its markup as text', async () => {
    const { page, start, fill, explain, verdict, rule } = browser
    await start()
    const { paymentRequirements, ...rest } = await exactPayment({
      chain: sandboxChain,
      wallet: createEoa(),
    })
    await fill(
      /^Body/,
      JSON.stringify({
        ...rest,
        paymentRequirements: { ...paymentRequirements, payTo: 5, asset: [markup] },
      }),
    )
    await explain()
    await verdict.getByText('INVALID_REQUEST').waitFor()
    const form = rule('The request has the form that /verify reads')
    for (const path of ['paymentRequirements.payTo', 'paymentRequirements.asset']) {
      await form.locator('dd').getByText(path, { exact: true }).waitFor()
    }
    await form.getByText('<img src=x').first().waitFor()
    expect(await page.locator('img').count()).toBe(0)
    expect(await page.title()).toBe('Explain · quittance')
    browser.expectNoProblems()
  })

  it('stand below Verify in the playground, also when it refuses', async () => {
    const { page, start, choose, runAll, waitFor, take, find } = walkIn(browser, service.url)
    await start()
    await choose(/^CAFE02/)
    await runAll()
    await waitFor('Verify', 'Refused')
    await find('Verify').getByRole('button', { name: 'Explain' }).click()
    const verdict = find('Verify').locator('.explained [role=status]')
    await verdict.getByText('Invalid', { exact: true }).waitFor()
    const reason = await find('Verify').locator('.meaning code').first().textContent()
    expect(await find('Verify').locator('.rule.bad code').allTextContents()).toContain(reason)
    await browser.expectAccessible()
    await browser.photograph('explain-playground')

    await take('Verify')
    await page.locator('.explained .rule').first().waitFor({ state: 'detached' })
    browser.expectNoProblems()
  })

  it('are readable in both themes and both widths', async () => {
    const { body } = await wrongRecipient()
    const { start, fill, explain, verdict } = browser
    await start()
    await fill(/^Body/, '{')
    await explain()
    await browser.expectReadable('explain-malformed')
    await fill(/^Body/, JSON.stringify(body, null, 2))
    await explain()
    await verdict.getByText('Invalid', { exact: true }).waitFor()
    await browser.expectReadable('explain')
    browser.expectNoProblems()
  })
})
