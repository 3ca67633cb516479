import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { type BrowserContext, chromium } from 'playwright-core'
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

const args = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** With a profile of its own, which `close` removes. */
export const openBrowser = async (
  path: string,
  options: {
    readonly colorScheme: 'light' | 'dark'
    readonly javaScriptEnabled?: boolean
    readonly width?: number
  },
): Promise<Browser> => {
  const profile = await makeTemporaryFolder('chromium-', { onDisk: true })
  const { width = 1_280, ...rest } = options
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: path,
    headless: true,
    args,
    viewport: { width, height: 900 },
    ...rest,
  })
  return {
    context,
    close: async () => {
      await context.close()
      await rm(profile, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}
