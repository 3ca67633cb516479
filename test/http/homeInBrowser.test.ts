import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findChromium, openBrowser } from '../support/chromium.js'
import { isLongRun } from '../support/longRun.js'
import { waitLimitMs } from '../support/pollUntil.js'
import { testApp } from './support/app.js'

const chromium = findChromium()
const kinds = ['eip155:8453', 'eip155:84532', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'].map((network) => ({
  x402Version: 2 as const,
  payVersion: 2 as const,
  t402Version: 2 as const,
  scheme: 'exact',
  network,
}))

/** Swagger UI computes for seconds before it shows the whole document, of which the page at / needs its title. */
const describeNoOperations = async (route: Route) => {
  const response = await route.fetch()
  const { openapi, info } = z.object({ openapi: z.string(), info: z.unknown() }).parse(await response.json())
  await route.fulfill({ response, json: { openapi, info, paths: {} } })
}

describe.skipIf(chromium === null)('the page at / in a browser', () => {
  let app: FastifyInstance
  let url: string
  beforeAll(async () => {
    app = testApp({
      core: {
        listSupported: () => ({ kinds, extensions: [], signers: {} }),
        checkReadiness: async () => ({
          status: 'ready',
          checks: Object.fromEntries([
            ...kinds.map(({ network }) => [`gas:${network}`, 'ok']),
            ['gas:ton:mainnet', 'unknown'],
          ]),
        }),
      },
    })
    url = await app.listen({ host: '127.0.0.1', port: 0 })
  })
  afterAll(() => app.close())

  const photograph = async (page: Page, name: string) => {
    const folder = process.env.SCREENSHOTS
    if (folder === undefined) return
    await mkdir(folder, { recursive: true })
    await page.screenshot({ path: join(folder, `home-${name}.png`), fullPage: true })
  }

  it('is styled without a script, a violation of its policy, or a request to another host', async () => {
    const { context, close } = await openBrowser(chromium ?? '', {
      colorScheme: 'light',
      javaScriptEnabled: false,
    })
    context.setDefaultTimeout(waitLimitMs)
    try {
      const page = await context.newPage()
      const problems: string[] = []
      const requested: string[] = []
      page.on('console', (message) => problems.push(message.text()))
      page.on('pageerror', (error) => problems.push(error.message))
      page.on('request', (request) => requested.push(request.url()))
      const response = await page.goto(url)
      expect(response?.status()).toBe(200)
      expect(await page.title()).toBe('quittance · payment facilitator')
      expect(await page.locator('h1').textContent()).toBe('Paid once, on chain, before you deliver.')
      expect(await page.locator('.networks .name').allTextContents()).toEqual([
        'Base',
        'Base Sepolia',
        'Solana',
        'TON',
      ])
      expect(await page.getByText('not serving').isVisible()).toBe(true)
      const backgrounds = [
        ['light', 'rgb(246, 244, 238)'],
        ['dark', 'rgb(16, 20, 18)'],
      ] as const
      for (const [colorScheme, background] of backgrounds) {
        await page.emulateMedia({ colorScheme })
        const shown = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
        expect(shown, colorScheme).toBe(background)
        await photograph(page, colorScheme)
      }
      expect(problems).toEqual([])
      expect(requested.filter((target) => !target.startsWith(`${url}/`))).toEqual([])
    } finally {
      await close()
    }
  })

  it('fits a telephone without scrolling sideways, and leads to the reference', async () => {
    const { context, close } = await openBrowser(chromium ?? '', { colorScheme: 'light', width: 360 })
    context.setDefaultTimeout(waitLimitMs)
    try {
      const page = await context.newPage()
      await page.goto(url)
      const root = 'document.documentElement'
      const overflow = await page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`)
      expect(overflow).toBe(0)
      await photograph(page, 'narrow')
      if (!isLongRun) await page.route('**/docs/json', describeNoOperations)
      await page.getByRole('link', { name: 'API reference' }).first().click()
      await page.waitForURL(/\/docs/)
      await page
        .getByRole('heading', { name: /quittance/i })
        .first()
        .waitFor()
    } finally {
      await close()
    }
  })
})
