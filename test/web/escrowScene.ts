import { isAddress } from 'viem'
import { afterAll, beforeAll } from 'vitest'
import { z } from 'zod'
import { type Channel, openChannelOnChain, voucherBody } from '../chains/evm/channels/channelScene.js'
import { planHold } from '../support/evm/holds.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { createEoa } from '../support/evm/wallets.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'
import { type ConsoleBrowser, createCalls, openConsole, openLivePage } from './support.js'

const supported = z.object({
  kinds: z.array(
    z.looseObject({
      scheme: z.string(),
      extra: z.looseObject({ captureAuthorizer: z.string().optional() }).optional(),
    }),
  ),
})

/** A console on a real chain, with holds and delegated channels; for a suite. */
export const useEscrowConsole = (chromium: string) => {
  const database = useTestDatabase()
  const agent = createEoa()
  let chain: LocalChain
  let service: TestService
  let calls: ReturnType<typeof createCalls>
  let browser: ConsoleBrowser
  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1, hasAuthCapture: true, hasBatchSettlement: true })
    service = await startService({
      chain,
      databaseUrl: database.url,
      environment: {
        EVM_HOLD_AUTHORIZER_KEY: agent.privateKey,
        EVM_CHANNEL_AUTHORIZER_KEY: agent.privateKey,
      },
    })
    calls = createCalls(service.url)
    browser = await openConsole(chromium, service.url)
  })
  afterAll(async () => {
    await browser.close()
    await service.close()
    await chain.stop()
  })

  const findOperator = async () => {
    const { kinds } = supported.parse(await (await fetch(`${service.url}/supported`)).json())
    const operator = kinds.find(({ scheme }) => scheme === 'auth-capture')?.extra?.captureAuthorizer ?? ''
    if (!isAddress(operator)) throw new Error('/supported lists no operator')
    return operator
  }
  const openHold = async (apiKey: string) => {
    const hold = await planHold(chain, await findOperator(), { authorizer: agent, amount: 1_000_000n })
    const settled = z.object({ success: z.literal(true) })
    settled.parse(await calls.post('/settle', hold.body, apiKey))
    return hold
  }
  const openChannel = async (apiKey: string): Promise<Channel> => {
    const channel = await openChannelOnChain(chain, { authorizer: agent }, 2_000_000n)
    const verified = z.object({ isValid: z.literal(true) })
    verified.parse(await calls.post('/verify', await voucherBody(channel, 750_000n), apiKey))
    return channel
  }
  const openPage = (apiKey: string, path: string) =>
    openLivePage(browser.page, { url: `${service.url}/console/${path}`, apiKey })
  const openDetails = async (apiKey: string, noun: 'holds' | 'channels') => {
    const page = await openPage(apiKey, noun)
    await page.locator('.row-link').first().click()
    await page.locator('.receipt').waitFor()
    return page
  }

  return {
    openHold,
    openChannel,
    openPage,
    openDetails,
    get chain() {
      return chain
    },
    get service() {
      return service
    },
    get calls() {
      return calls
    },
    get browser() {
      return browser
    },
  }
}
