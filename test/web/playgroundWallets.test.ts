import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { readConsoleFiles } from '../../src/http/consoleFiles.js'
import { findChromium } from '../support/chromium.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type InjectedWallet, injectWallet } from './injectedWallet.js'
import { openPlayground, type Playground } from './walk.js'

const chromium = findChromium()

describe.skipIf(chromium === null)('the playground of an instance with a chain', () => {
  const database = useTestDatabase()
  let chain: LocalChain
  let service: TestService
  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    service = await startService({ chain, databaseUrl: database.url })
  })
  afterAll(async () => {
    await service.close()
    await chain.stop()
  })

  it('pays the recipient from a throw-away key that was funded', async () => {
    const recipient = randomAddress()
    const { page, start, runAll, waitFor, close, ...browser } = await openPlayground(
      chromium ?? '',
      service.url,
    )
    try {
      const scripts: string[] = []
      page.on('request', (request) => {
        if (request.resourceType() === 'script') scripts.push(request.url())
      })
      await start()
      const makeKey = page.getByRole('button', { name: 'Make a throw-away key' })
      await makeKey.waitFor()
      expect(scripts.filter((each) => each.includes('throwAwayKey'))).toEqual([])
      await makeKey.click()
      const command = await page
        .getByRole('region', { name: 'Command that funds the key in the demo' })
        .textContent()
      const payer = z.templateLiteral(['0x', z.string()]).parse(/0x[0-9a-fA-F]{40}/.exec(command ?? '')?.[0])
      await page.getByLabel('Recipient').fill(recipient)
      for (const amount of ['0', '1.000001', '0.0000001', '-1', '1e3', '']) {
        await page.getByLabel('Amount').fill(amount)
        await page.getByRole('button', { name: 'Use this payment' }).click()
        await page.getByText('Enter an amount above 0, and at most 1 USDC').waitFor()
      }
      await page.getByLabel('Amount').fill('0.25')
      await page.getByRole('button', { name: 'Use this payment' }).click()
      await runAll()
      await waitFor('Verify', 'insufficient_funds')
      await chain.mint(payer, 1_000_000n)
      await runAll()
      await waitFor('Settle', 'Settled')
      await browser.photograph('playground-key')
      await browser.expectAccessible()
      expect(await chain.balanceOf(recipient)).toBe(250_000n)
      expect(await chain.balanceOf(payer)).toBe(750_000n)
      expect(scripts.filter((each) => each.includes('throwAwayKey'))).toHaveLength(1)
      browser.expectNoProblems()
    } finally {
      await close()
    }
  })

  it('loads what signs with a throw-away key only where one is made', () => {
    const scripts = [...(readConsoleFiles()?.assets ?? [])].filter(([name]) => name.endsWith('.js'))
    const sizes = scripts.map(([name, { forms }]) => [name, forms.get('gzip')?.length ?? Number.NaN] as const)
    const [, first] = sizes.find(([name]) => name.startsWith('console-')) ?? []
    const [, later] = sizes.find(([name]) => name.startsWith('part-throwAwayKey-')) ?? []
    expect(first).toBeLessThan(80_000)
    expect(later).toBeLessThan(20_000)
  })

  describe('in a browser with a wallet', () => {
    let browser: Playground
    let wallet: InjectedWallet
    beforeAll(async () => {
      browser = await openPlayground(chromium ?? '', service.url)
      wallet = await injectWallet(browser.page)
    })
    afterAll(() => browser.close())

    it('pays from a wallet of the browser, on the chain of the payment', async () => {
      const account = privateKeyToAccount(generatePrivateKey())
      const recipient = randomAddress()
      await chain.mint(account.address, 10_000n)
      const { page, start, runAll, waitFor } = browser
      const { calls } = wallet
      wallet.use({ account })
      await start()
      await page.getByRole('button', { name: 'Connect a wallet' }).click()
      await page.getByText(account.address).waitFor()
      await page.getByLabel('Recipient').fill(recipient)
      await page.getByRole('button', { name: 'Use this payment' }).click()
      await runAll()
      await waitFor('Settle', 'Settled')
      expect(await chain.balanceOf(recipient)).toBe(10_000n)
      expect(calls.map(({ method }) => method)).toEqual([
        'eth_requestAccounts',
        'eth_chainId',
        'wallet_switchEthereumChain',
        'eth_chainId',
        'eth_signTypedData_v4',
      ])
      const signed = JSON.parse(String(calls.at(-1)?.params[1]))
      expect(signed.domain).toEqual({ ...chain.token, verifyingContract: expect.stringMatching(/^0x/) })
      expect(signed.message).toMatchObject({ from: account.address, to: recipient, value: '10000' })
      browser.expectNoProblems()
    })

    it.each([
      [
        'declines',
        { onSign: { code: 4001, message: 'no' } },
        'You declined in the wallet; nothing was signed',
      ],
      [
        'does not know the chain',
        { onSwitch: { code: 4902, message: 'no' } },
        'The wallet does not know this chain',
      ],
      [
        'stays on another chain',
        { onSwitch: 'stays' },
        'The wallet is not on chain 84532, and signed nothing',
      ],
      [
        'fails with markup',
        { onSign: { code: 1, message: '<img src=x onerror=alert(1)>' } },
        '<img src=x onerror=alert(1)>',
      ],
    ] as const)('says what to do where the wallet %s', async (_does, behaviour, sentence) => {
      const account = privateKeyToAccount(generatePrivateKey())
      const { page, start, runAll, waitFor, find } = browser
      wallet.use({ account, ...behaviour })
      await start()
      await page.getByRole('button', { name: 'Connect a wallet' }).click()
      await page.getByText(account.address).waitFor()
      await page.getByRole('button', { name: 'Use this payment' }).click()
      await runAll()
      await waitFor('Sign', sentence)
      expect(await find('Verify').getByRole('button', { name: 'Verify' }).isDisabled()).toBe(true)
      expect(await page.locator('main img').count()).toBe(0)
      browser.expectNoProblems()
    })
  })
})

describe.skipIf(chromium === null)('the playground of a mainnet', () => {
  const database = useTestDatabase()
  it('signs nothing, and says why', async () => {
    const chain = await startLocalChain({ chainId: 8_453, facilitatorCount: 1 })
    const service = await startService({ chain, databaseUrl: database.url })
    const { page, start, close, ...browser } = await openPlayground(chromium ?? '', service.url)
    try {
      const { calls } = await injectWallet(page)
      await start()
      await page
        .getByText('This instance serves real money, and the playground makes test payments only.')
        .waitFor()
      expect(await page.locator('main').getByRole('button').count()).toBe(0)
      await browser.expectAccessible()
      expect(calls).toEqual([])
      browser.expectNoProblems()
    } finally {
      await close()
      await service.close()
      await chain.stop()
    }
  })
})
