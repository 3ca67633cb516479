import { existsSync } from 'node:fs'
import { type BrowserContext, type Browser as BrowserOfPlaywright, chromium } from 'playwright-core'
import { makeTemporaryFolder } from './temporaryFolder.js'

const executablePath = '/usr/bin/chromium'

/** Null with one line on stderr where Chromium is not installed; an error with `REQUIRE_CHROMIUM=1`. */
export const findChromium = (): string | null => {
  if (existsSync(executablePath)) return executablePath
  if (process.env.REQUIRE_CHROMIUM === '1')
    throw new Error(`REQUIRE_CHROMIUM is set, and ${executablePath} is missing`)
  process.stderr.write(
    `\n*** browser suite SKIPPED: no ${executablePath} here; apt-get install chromium ***\n\n`,
  )
  return null
}

interface Browser {
  readonly context: BrowserContext
  close(): Promise<void>
}

// The last list is the one that Chromium obeys: all but the first repeat what Playwright disables, as far as pages on
// loopback notice it. A spare process for the next page takes a quarter of the processor time, and no test waits for it.
const disabledFeatures = [
  'SpareRendererForSitePerProcess',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsUpgrades',
  'HttpsFirstBalancedModeAutoEnable',
  'MediaRouter',
  'OptimizationHints',
  'PaintHolding',
]

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  `--disable-features=${disabledFeatures.join(',')}`,
]

export const viewportHeight = 900

let started: Promise<BrowserOfPlaywright> | null = null

/** One for all files of a worker: its start takes as much processor time as a page of the console. */
const startChromium = async (executablePath: string): Promise<BrowserOfPlaywright> => {
  const profile = await makeTemporaryFolder('chromium-', { onDisk: true })
  const persistent = await chromium.launchPersistentContext(profile, { executablePath, headless: true, args })
  const browser = persistent.browser()
  if (browser === null) throw new Error('Chromium was started without a browser to open contexts in')
  // A crash fails the tests of its contexts; the next ones start another.
  browser.once('disconnected', () => {
    started = null
  })
  return browser
}

/** Storage, cache and settings of its own, which `close` discards; the browser ends with the process. */
export const openBrowser = async (
  path: string,
  options: {
    readonly colorScheme: 'light' | 'dark'
    readonly javaScriptEnabled?: boolean
    readonly width?: number
  },
): Promise<Browser> => {
  const { width = 1_280, ...rest } = options
  started ??= startChromium(path).catch((error: unknown) => {
    started = null
    throw error
  })
  const browser = await started
  const context = await browser.newContext({
    viewport: { width, height: viewportHeight },
    // An animation repaints the page for seconds.
    reducedMotion: 'reduce',
    ...rest,
  })
  return { context, close: () => context.close() }
}
