import { createServer } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { findChromium } from '../support/chromium.js'
import { listenOnLoopback } from '../support/listenOnLoopback.js'
import { useEscrowConsole } from './escrowScene.js'
import { actBeforeRequest } from './support.js'

const chromium = findChromium()

/* What a browser can have done to holds and channels of an account without its key. */
describe.skipIf(chromium === null)('actions of the console', () => {
  const escrow = useEscrowConsole(chromium ?? '')
  const { openHold, openChannel, openPage, openDetails } = escrow
  afterEach(() => escrow.browser.page.unrouteAll({ behavior: 'ignoreErrors' }))

  const actions = [
    { action: 'Capture', path: '/v1/captures' },
    { action: 'Void', path: '/v1/voids' },
  ] as const

  it.each(actions)(
    '$action: one that names a hold of another account moves nothing',
    async ({ action, path }) => {
      const { calls, chain } = escrow
      const owner = await calls.register(`owner-${action}@example.com`)
      const thief = await calls.register(`thief-${action}@example.com`)
      const [hold, own] = [await openHold(owner), await openHold(thief)]
      const page = await openDetails(thief, 'holds')
      const answers: number[] = []
      await page.route(`**${path}`, async (route) => {
        const body = route.request().postDataJSON()
        const response = await route.fetch({ postData: { ...body, paymentInfoHash: hold.hash } })
        answers.push(response.status())
        await route.fulfill({ response })
      })
      try {
        await page.getByRole('button', { name: action }).first().click()
        const dialog = page.getByRole('dialog')
        await dialog.getByRole('button', { name: action }).click()
        await dialog.getByRole('alert').waitFor()
      } finally {
        await page.unroute(`**${path}`)
      }
      expect(answers.every((status) => status === 404)).toBe(true)
      expect(answers.length).toBeGreaterThan(0)
      for (const { payTo, payer } of [hold, own]) {
        expect([await chain.balanceOf(payTo), await chain.balanceOf(payer)]).toEqual([0n, 0n])
      }
    },
  )

  it('that are confirmed under a key that was replaced meanwhile move nothing', async () => {
    const { calls, chain } = escrow
    const apiKey = await calls.register('stale@example.com')
    const hold = await openHold(apiKey)
    const page = await openDetails(apiKey, 'holds')
    await page.getByRole('button', { name: 'Capture' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Capture the payment' })
    await dialog.getByLabel('Amount').fill('0.4')
    // The page may load again at any moment, which would end its session if the key were replaced before the click.
    let rotated: unknown
    await actBeforeRequest(page, '**/v1/captures', async () => {
      rotated = await calls.post('/dashboard/rotate', {}, apiKey)
    })
    const [answer] = await Promise.all([
      page.waitForResponse((response) => response.url().endsWith('/v1/captures')),
      dialog.getByRole('button', { name: 'Capture' }).click(),
    ])
    expect(rotated).toMatchObject({ apiKey: expect.any(String) })
    expect(answer.status()).toBe(401)
    expect(await chain.balanceOf(hold.payTo)).toBe(0n)
  })

  it('and pages are not those of the account before, once another one has signed in', async () => {
    const { calls, chain } = escrow
    const [first, second] = [
      await calls.register('first@example.com'),
      await calls.register('second@example.com'),
    ]
    const channel = await openChannel(first)
    const page = await openDetails(first, 'channels')
    await page.getByText(channel.id.slice(2, 8)).first().waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await openPage(second, 'channels')
    await page.getByText('No channel yet.').waitFor()
    // A page that is loaded again asks for the key: the browser has kept none.
    await page.goto(`${escrow.service.url}/console/channels/${chain.network}/${channel.id}`)
    await page.getByLabel('API key', { exact: true }).waitFor()
    await openPage(second, `channels/${chain.network}/${channel.id}`)
    await page.getByText('There is no such channel.').waitFor()
    expect(await page.content()).not.toContain('0.75')
  })

  it('cannot be asked for by a page of another origin: the browser keeps nothing that it would send along', async () => {
    const { calls, chain, browser, service } = escrow
    const apiKey = await calls.register('visited@example.com')
    const hold = await openHold(apiKey)
    await openDetails(apiKey, 'holds')
    const context = browser.page.context()
    expect(await context.cookies()).toEqual([])
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>elsewhere</title>')
    })
    const elsewhere = await listenOnLoopback(server)
    const foreign = await context.newPage()
    try {
      await foreign.goto(elsewhere.url)
      const body = JSON.stringify({ network: chain.network, paymentInfoHash: hold.hash, amount: '1000000' })
      // 0: the browser itself refuses to send it.
      const ask = (type: string) =>
        foreign.evaluate(
          async ([url = '', content = '', contentType = '']) => {
            const headers = { 'content-type': contentType }
            const request = { method: 'POST', body: content, credentials: 'include', headers } as const
            return await fetch(url, request).then(
              ({ status }) => status,
              () => 0,
            )
          },
          [`${service.url}/v1/captures`, body, type],
        )
      for (const type of ['application/json', 'text/plain']) {
        expect([0, 400, 401, 403, 415]).toContain(await ask(type))
      }
      expect(await chain.balanceOf(hold.payTo)).toBe(0n)
    } finally {
      await foreign.close()
      await elsewhere.stop()
    }
  })
})
