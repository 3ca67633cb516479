import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'
import { z } from 'zod'
import { openBrowser, viewportHeight } from '../support/chromium.js'
import { isLongRun } from '../support/longRun.js'
import { pollUntil, waitLimitMs } from '../support/pollUntil.js'

export interface ConsoleBrowser {
  readonly page: Page
  /** Nothing but this origin was asked for, and the browser reported no error and no violation of the policy. */
  expectNoProblems(): void
  /** Axe finds nothing serious or critical, and the page does not scroll sideways. */
  expectAccessible(): Promise<void>
  /**
   * The same in both themes and both widths, with a picture of each look. The page changes its look instead of being loaded
   * for each, which takes several times as much processor time.
   */
  expectReadable(name: string): Promise<void>
  /** In the folder `SCREENSHOTS`, if it is set. */
  photograph(name: string): Promise<void>
  close(): Promise<void>
}

interface Look {
  readonly colorScheme: 'light' | 'dark'
  readonly width: number
}

const everyLook: readonly Look[] = [
  { colorScheme: 'light', width: 1_280 },
  { colorScheme: 'dark', width: 360 },
  { colorScheme: 'dark', width: 1_280 },
  { colorScheme: 'light', width: 360 },
]

/** In every combination in long runs, and if pictures are taken. */
const looks = isLongRun || process.env.SCREENSHOTS !== undefined ? everyLook : everyLook.slice(0, 2)

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const axeViolations = z.array(
  z.object({
    id: z.string(),
    impact: z.string().nullable(),
    nodes: z.array(z.object({ html: z.string(), failureSummary: z.string().optional() })),
  }),
)

/** All findings of a rule have its impact, so the rules below serious need not run. */
const findViolations = `(() => {
  const ignored = axe._audit.rules.filter(({ impact }) => impact === 'minor' || impact === 'moderate')
  const rules = Object.fromEntries(ignored.map(({ id }) => [id, { enabled: false }]))
  return axe.run({ resultTypes: ['violations'], rules }).then(({ violations }) => violations)
})()`

export const twoFrames =
  'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))'

export const openConsole = async (
  chromium: string,
  url: string,
  { colorScheme = 'light', width = 1_280 }: Partial<Look> = {},
): Promise<ConsoleBrowser> => {
  const { context, close } = await openBrowser(chromium, { colorScheme, width })
  context.setDefaultTimeout(waitLimitMs)
  const page = await context.newPage()
  const problems: string[] = []
  const foreign: string[] = []
  // A browser logs each answer outside 2xx; what the console makes of it, tests look at.
  page.on('console', (message) => {
    if (!/^Failed to load resource/.test(message.text())) problems.push(message.text())
  })
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(`${url}/`)) foreign.push(request.url())
  })
  const expectAccessible = async (what: string) => {
    const root = 'document.documentElement'
    expect(await page.evaluate<number>(`${root}.scrollWidth - ${root}.clientWidth`), what).toBe(0)
    // The policy of the page forbids scripts from elsewhere; the debugger may evaluate them.
    if (await page.evaluate<boolean>('globalThis.axe === undefined')) await page.evaluate(axe)
    expect(axeViolations.parse(await page.evaluate(findViolations)), what).toEqual([])
  }
  const photograph = async (name: string) => {
    const folder = process.env.SCREENSHOTS
    if (folder === undefined) return
    await mkdir(folder, { recursive: true })
    await page.screenshot({ path: join(folder, `console-${name}.png`), fullPage: true })
  }
  const show = async (look: Look) => {
    await page.setViewportSize({ width: look.width, height: viewportHeight })
    await page.emulateMedia({ colorScheme: look.colorScheme })
  }
  return {
    page,
    expectNoProblems: () => {
      expect(problems).toEqual([])
      expect(foreign).toEqual([])
    },
    expectAccessible: () => expectAccessible(page.url()),
    expectReadable: async (name) => {
      try {
        for (const look of looks) {
          await show(look)
          // Plots are drawn again before the next frame.
          await page.evaluate(twoFrames)
          const shown = `${name}-${look.colorScheme}-${look.width}`
          await expectAccessible(shown)
          await photograph(shown)
        }
      } finally {
        await show({ colorScheme, width })
      }
    },
    photograph,
    close,
  }
}

/** Types the key into the form, and waits until it was accepted. */
export const signInWith = async (page: Page, apiKey: string): Promise<void> => {
  await page.getByLabel('API key', { exact: true }).fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
}

export const waitUntilLive = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor()

/** Signs in on a page that shows what changes, and waits until it does. */
export const openLivePage = async (
  page: Page,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
): Promise<Page> => {
  await page.goto(url)
  await signInWith(page, apiKey)
  await waitUntilLive(page)
  return page
}

/** Does `act` when the page next asks for `url`, and lets that request go on only then. */
export const actBeforeRequest = (page: Page, url: string, act: () => Promise<unknown>): Promise<unknown> =>
  page.route(
    url,
    async (route) => {
      await act()
      await route.continue()
    },
    { times: 1 },
  )

/** Waits until the page's request for events is refused. */
export const waitForRefusedFeed = (page: Page): Promise<unknown> =>
  page.waitForResponse((response) => response.url().includes('/v1/events') && response.status() === 401)

/** Holds effects and frames of the page back, until its clock is resumed: neither comes while the clock stands still. */
export const stopClock = async (page: Page): Promise<void> => {
  await page.clock.install()
  await page.clock.pauseAt(Date.now() + 60_000)
}

/** A new page is announced from its heading, which takes the focus in a later frame. */
export const waitForHeadingFocus = (page: Page): Promise<void> => page.locator('h1:focus').waitFor()

export const waitForCount = async (found: Locator, count: number): Promise<void> => {
  await pollUntil(
    async () => (await found.count()) === count,
    `${count} of ${found.toString()}`,
    () => found.count(),
  )
}

const catalogue = z.object({
  reasons: z.array(
    z.object({ reason: z.string(), title: z.string(), explanation: z.string(), remedy: z.string() }),
  ),
})

/** What the service says of a reason. */
export const readReason = async (url: string, reason: string) => {
  const response = await fetch(`${url}/v1/reasons`)
  const entry = catalogue.parse(await response.json()).reasons.find((each) => each.reason === reason)
  if (entry === undefined) throw new Error(`${reason} is no reason of the service`)
  return entry
}

/** Of a service, over HTTP. */
export const createCalls = (url: string) => {
  const post = async (path: string, body: unknown, apiKey?: string): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify(body),
    })
    return await response.json()
  }
  return {
    post,
    register: async (email: string, projectName = 'Report shop'): Promise<string> =>
      z.object({ apiKey: z.string() }).parse(await post('/register', { email, projectName })).apiKey,
    /** Of the sandbox: settles a payment of one of its payers. */
    settle: async (payer: string, apiKey: string, network = 'eip155:84532'): Promise<string> => {
      const payment = await fetch(`${url}/sandbox/payments/${payer}?network=${network}`)
      const settled = await post('/settle', await payment.json(), apiKey)
      return z.object({ settlementId: z.string().default('') }).parse(settled).settlementId
    },
  }
}
