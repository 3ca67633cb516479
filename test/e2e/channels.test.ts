import { HTTPFacilitatorClient } from '@x402/core/server'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { BatchSettlementEvmScheme as BatchSettlementServer } from '@x402/evm/batch-settlement/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openShop, type Shop } from '../demo/shop.js'
import { randomAddress } from '../support/evm/authorization.js'
import { batchSettlementAddress } from '../support/evm/channels.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { isLongRun } from '../support/longRun.js'
import { useTestDatabase } from '../support/postgres.js'
import { startService, type TestService } from '../support/service.js'

const registered = z.object({ apiKey: z.string() })
const supported = z.object({ kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string() })) })
const network = 'eip155:84532'
const price = 10_000n
const vouchers = isLongRun ? 1_000 : 40

interface CustomerPlan {
  readonly funds?: bigint
  readonly options?: ConstructorParameters<typeof BatchSettlementEvmScheme>[1]
}

const authorize = (key: string) => {
  const headers = { Authorization: `Bearer ${key}` }
  return { verify: headers, settle: headers, supported: headers }
}

const register = async (url: string): Promise<string> => {
  const response = await fetch(`${url}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'shop@example.com', projectName: 'shop' }),
  })
  return registered.parse(await response.json()).apiKey
}

/* Published packages on both sides, which a deposit, vouchers, claims, sweeps and refunds go between. */
describe.each([
  ['with a key of its own', false],
  ['without a key, which delegates to the facilitator', true],
])('a channel over HTTP, by the published client and a server %s', (_name, isDelegated) => {
  const database = useTestDatabase()
  const merchant = getAddress(randomAddress())
  const authorizerKey = generatePrivateKey()
  const receiverAuthorizerSigner = privateKeyToAccount(authorizerKey)
  const server = new BatchSettlementServer(merchant, isDelegated ? {} : { receiverAuthorizerSigner })
  let chain: LocalChain
  let service: TestService
  let shop: Shop
  let apiKey: string | null = null

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1, hasBatchSettlement: true })
    const environment = isDelegated ? { EVM_CHANNEL_AUTHORIZER_KEY: authorizerKey } : {}
    service = await startService({ chain, databaseUrl: database.url, environment })
    apiKey = isDelegated ? await register(service.url) : null
    shop = await openShop({
      port: 0,
      facilitatorUrl: service.url,
      world: { network, merchant, server, signPayment: async () => null },
      ...(apiKey === null ? {} : { apiKey }),
    })
  })
  afterAll(async () => {
    await shop.close()
    await service.close()
    await chain.stop()
  })

  const openCustomer = async ({ funds = 1_000_000n, options = {} }: CustomerPlan = {}) => {
    const account = privateKeyToAccount(generatePrivateKey())
    await chain.mint(account.address, funds)
    const client = new BatchSettlementEvmScheme(account, options)
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] })
    const buy = async () => {
      const response = await pay(`${shop.url}/report`)
      expect(response.status).toBe(200)
      return decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
    }
    return { account, client, buy }
  }

  const openManager = () => {
    const key = apiKey
    const client = new HTTPFacilitatorClient({
      url: service.url,
      ...(key === null ? {} : { createAuthHeaders: async () => authorize(key) }),
    })
    return server.createChannelManager(client, network, chain.token.verifyingContract)
  }

  it('is opened, charged, claimed, filled up, paid out and refunded', async () => {
    const { account, client, buy } = await openCustomer()
    const manager = openManager()
    const opened = await buy()
    expect(opened).toMatchObject({ success: true, payer: account.address })
    expect(opened.transaction).toMatch(/^0x[0-9a-f]{64}$/)
    const deposited = 1_000_000n - (await chain.balanceOf(account.address))
    expect(await chain.balanceOf(batchSettlementAddress)).toBe(deposited)

    // Vouchers send nothing.
    for (let count = 0; count < 3; count += 1) {
      expect(await buy()).toMatchObject({ success: true, transaction: '' })
    }
    expect(await manager.claim()).toMatchObject([{ vouchers: 1 }])
    expect(await chain.balanceOf(merchant)).toBe(0n)
    await manager.settle()
    expect(await chain.balanceOf(merchant)).toBe(4n * price)
    await expect(manager.settle()).rejects.toThrow('nothing_to_settle')

    let bought = 4n
    let toppedUp = 0n
    while (toppedUp === 0n) {
      bought += 1n
      expect(await buy()).toMatchObject({ success: true })
      toppedUp = 1_000_000n - (await chain.balanceOf(account.address)) - deposited
      expect(bought).toBeLessThan(100n)
    }
    expect(bought * price).toBeGreaterThan(deposited)
    await manager.claimAndSettle()
    expect(await chain.balanceOf(merchant)).toBe(bought * price)

    bought += 1n
    await buy()
    const refund = await client.refund(`${shop.url}/report`)
    expect(refund).toMatchObject({ success: true })
    expect(await chain.balanceOf(account.address)).toBe(1_000_000n - bought * price)
    await manager.settle()
    expect(await chain.balanceOf(merchant)).toBe(bought * price)
    expect(await chain.balanceOf(batchSettlementAddress)).toBe(0n)
  })

  it(`pays ${vouchers} requests by vouchers of one deposit, which one claim and one sweep pay out`, async () => {
    const total = BigInt(vouchers) * price
    // The client's cap of a deposit is a multiple, too.
    const options = { depositStrategy: () => total, depositPolicy: { depositMultiplier: vouchers } }
    const { account, buy } = await openCustomer({ funds: total, options })
    const before = await chain.balanceOf(merchant)
    expect((await buy()).transaction).not.toBe('')
    for (let count = 1; count < vouchers; count += 1) expect(await buy()).toMatchObject({ transaction: '' })
    expect(await chain.balanceOf(account.address)).toBe(0n)
    const manager = openManager()
    expect(await manager.claim()).toMatchObject([{ vouchers: 1 }])
    await manager.settle()
    expect((await chain.balanceOf(merchant)) - before).toBe(total)
  })

  if (isDelegated) {
    it('is claimed by a new key of the account, once the first is rotated', async () => {
      const { buy } = await openCustomer()
      await buy()
      const response = await fetch(`${service.url}/dashboard/rotate`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}` },
      })
      apiKey = registered.parse(await response.json()).apiKey
      const before = await chain.balanceOf(merchant)
      const { claims, settle } = await openManager().claimAndSettle()
      expect(claims).toHaveLength(1)
      expect(settle?.transaction).toMatch(/^0x/)
      expect(await chain.balanceOf(merchant)).toBe(before + price)
    })
  }

  it('is listed where the network has the settlement', async () => {
    const { kinds } = supported.parse(await (await fetch(`${service.url}/supported`)).json())
    expect(kinds.filter(({ scheme }) => scheme === 'batch-settlement').map((kind) => kind.network)).toContain(
      network,
    )
  })

  it('is not listed where the network lacks it', async () => {
    const bare = await startLocalChain({ facilitatorCount: 1 })
    const other = await startService({ chain: bare, databaseUrl: database.url })
    const { kinds } = supported.parse(await (await fetch(`${other.url}/supported`)).json())
    expect(kinds.map(({ scheme }) => scheme)).not.toContain('batch-settlement')
    expect(kinds.map(({ scheme }) => scheme)).toContain('exact')
    await other.close()
    await bare.stop()
  })
})
