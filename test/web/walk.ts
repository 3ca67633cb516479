import type { Locator, Page } from 'playwright-core'
import { type ConsoleBrowser, openConsole } from './support.js'

const steps = ['402 Payment Required', 'Sign', 'Verify', 'Settle'] as const
type Step = (typeof steps)[number]

/** The steps of the playground, as its user sees them. */
const describeWalk = (page: Page) => {
  const find = (step: Step): Locator =>
    page.locator('.step').filter({ has: page.getByRole('heading', { name: step, exact: true }) })
  return {
    find,
    choose: (payer: RegExp) => page.getByRole('button', { name: payer }).click(),
    runAll: () => page.getByRole('button', { name: 'Run all' }).click(),
    take: async (step: Step) => {
      const name = step === '402 Payment Required' ? 'Ask' : step
      await find(step).getByRole('button', { name, exact: true }).click()
    },
    /** What the answer of a step means. */
    waitFor: (step: Step, meaning: string) =>
      find(step).locator('.meaning').getByText(meaning).first().waitFor(),
    /** Of the service, or of a header, in a form. */
    readContent: async (label: string, form: 'Decoded' | 'Raw'): Promise<string> => {
      await page
        .getByRole('group', { name: `Form of: ${label}`, exact: true })
        .getByRole('button', { name: form })
        .click()
      return (await page.getByRole('region', { name: label, exact: true }).textContent()) ?? ''
    },
    readCode: async (language: string): Promise<string> => {
      await page.getByRole('group', { name: 'Language' }).getByRole('button', { name: language }).click()
      return (await page.getByRole('region', { name: `The same steps in ${language}` }).textContent()) ?? ''
    },
  }
}

/** The playground of the service at `url`, in a browser that may have been elsewhere. */
export const walkIn = (browser: ConsoleBrowser, url: string) => {
  const { page } = browser
  return { ...browser, ...describeWalk(page), start: () => page.goto(`${url}/console/playground`) }
}

export type Playground = ReturnType<typeof walkIn>

export const openPlayground = async (chromium: string, url: string): Promise<Playground> =>
  walkIn(await openConsole(chromium, url), url)
