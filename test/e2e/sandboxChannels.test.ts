import { HTTPFacilitatorClient } from '@x402/core/server'
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { BatchSettlementEvmScheme as BatchSettlementServer } from '@x402/evm/batch-settlement/server'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { getAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { streamOpened } from '../../src/protocol/streams.js'
import {
  planChannel,
  prefixed,
  refundOrder,
  rowOf,
  signedDeposit,
  sweepBody,
  voucherBody,
  wireVoucher,
  withRequirements,
} from '../chains/evm/channels/channelScene.js'
import { openShop, type Shop } from '../demo/shop.js'
import { randomAddress } from '../support/evm/authorization.js'
import { signClaimBatch } from '../support/evm/channels.js'
import { useTestDatabase } from '../support/postgres.js'
import { sandboxTestnets } from '../support/sandbox/networks.js'
import { sandboxChain } from '../support/sandbox/streams.js'
import { startService, type TestService } from '../support/service.js'

const network = 'eip155:84532'
const price = 10_000n

const supported = z.object({
  kinds: z.array(z.looseObject({ scheme: z.string(), network: z.string(), extra: z.unknown() })),
})
const channelRows = z.array(z.object({ balance: z.string(), total_claimed: z.string() })).length(1)
const receiverRows = z.array(z.object({ total_claimed: z.string(), total_settled: z.string() })).length(1)

/* Published packages on both sides, and no chain. */
describe('a channel in the sandbox, by the published client and server', () => {
  const database = useTestDatabase({ isSandbox: true })
  const merchant = getAddress(randomAddress())
  const authorizer = privateKeyToAccount(generatePrivateKey())
  const server = new BatchSettlementServer(merchant, { receiverAuthorizerSigner: authorizer })
  let service: TestService
  let shop: Shop

  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    shop = await openShop({
      port: 0,
      facilitatorUrl: service.url,
      world: { network, merchant, server, signPayment: async () => null },
    })
  })
  afterAll(async () => {
    await shop.close()
    await service.close()
  })

  const readChannel = async () => {
    const { rows } = await database.pool.query('select balance, total_claimed from sandbox_channels')
    const [row] = channelRows.parse(rows)
    return { balance: BigInt(row?.balance ?? 0), claimed: BigInt(row?.total_claimed ?? 0) }
  }
  const readReceiver = async () => {
    const { rows } = await database.pool.query('select total_claimed, total_settled from sandbox_receivers')
    const [row] = receiverRows.parse(rows)
    return { claimed: BigInt(row?.total_claimed ?? 0), settled: BigInt(row?.total_settled ?? 0) }
  }

  it('is opened, charged, claimed, filled up, paid out and refunded', async () => {
    const account = privateKeyToAccount(generatePrivateKey())
    const client = new BatchSettlementEvmScheme(account)
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [{ network, client }] })
    const buy = async () => {
      const response = await pay(`${shop.url}/report`)
      expect(response.status).toBe(200)
      return decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
    }
    const manager = server.createChannelManager(
      new HTTPFacilitatorClient({ url: service.url }),
      network,
      sandboxChain.token.verifyingContract,
    )
    const opened = await buy()
    expect(opened).toMatchObject({ success: true, payer: account.address })
    expect(opened.transaction).toMatch(/^0x5a4db0[0-9a-f]{58}$/)
    const { balance: deposited } = await readChannel()
    expect(deposited).toBeGreaterThan(price)

    for (let count = 0; count < 3; count += 1) {
      expect(await buy()).toMatchObject({ success: true, transaction: '' })
    }
    expect(await manager.claim()).toMatchObject([{ vouchers: 1 }])
    expect(await readReceiver()).toEqual({ claimed: 4n * price, settled: 0n })
    await manager.settle()
    expect(await readReceiver()).toEqual({ claimed: 4n * price, settled: 4n * price })
    await expect(manager.settle()).rejects.toThrow('nothing_to_settle')

    let bought = 4n
    while ((await readChannel()).balance === deposited) {
      bought += 1n
      expect(await buy()).toMatchObject({ success: true })
      expect(bought).toBeLessThan(100n)
    }
    expect(bought * price).toBeGreaterThan(deposited)
    await manager.claimAndSettle()
    expect(await readReceiver()).toEqual({ claimed: bought * price, settled: bought * price })

    bought += 1n
    await buy()
    expect(await client.refund(`${shop.url}/report`)).toMatchObject({ success: true })
    expect(await readChannel()).toEqual({ balance: bought * price, claimed: bought * price })
    await manager.settle()
    expect(await readReceiver()).toEqual({ claimed: bought * price, settled: bought * price })
  })

  it('is listed by /supported on every EVM network, and has terms at /accepts', async () => {
    const answer = await fetch(`${service.url}/supported`)
    const { kinds } = supported.parse(await answer.json())
    const listed = kinds.filter(({ scheme }) => scheme === 'batch-settlement')
    const evm = sandboxTestnets.filter((each) => each.startsWith('eip155:'))
    expect(listed.map((kind) => kind.network)).toEqual(expect.arrayContaining(evm))
    for (const { extra } of listed) expect(extra).toEqual({ assetTransferMethods: ['eip3009', 'permit2'] })

    const extra = { receiverAuthorizer: authorizer.address, withdrawDelay: 900 }
    const draft = { scheme: 'batch-settlement', network, amount: '10000', payTo: merchant, extra }
    const completed = await fetch(`${service.url}/accepts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({
        x402Version: 2,
        resource: { url: 'https://shop.example/report' },
        accepts: [draft],
      }),
    })
    expect(await completed.json()).toMatchObject({
      accepts: [
        {
          ...draft,
          asset: sandboxChain.token.verifyingContract,
          extra: { ...extra, name: 'USDC', version: '2' },
        },
      ],
    })
  })
})

describe('a stream over a channel in the sandbox', () => {
  const database = useTestDatabase({ isSandbox: true })
  const chain = { ...sandboxChain, chainId: sandboxChain.token.chainId }
  let service: TestService
  let key: Readonly<Record<string, string>> = {}

  const ask = async (path: string, body: unknown): Promise<unknown> => {
    const headers = { 'content-type': 'application/json', ...key }
    const response = await fetch(`${service.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    return await response.json()
  }

  beforeAll(async () => {
    service = await startService({ databaseUrl: database.url, environment: { SANDBOX: 'true' } })
    const registered = await ask('/register', { email: 'ada@example.com', projectName: 'meter' })
    key = { authorization: `Bearer ${z.object({ apiKey: z.string() }).parse(registered).apiKey}` }
  })
  afterAll(() => service.close())

  it('is paid by vouchers and one claim, and hinders what would pay twice, as in production', async () => {
    const channel = planChannel(chain)
    expect(await ask('/settle', await signedDeposit(channel))).toMatchObject({ success: true })
    const body = withRequirements(await voucherBody(channel, 1_000n), { amount: '8000' })
    const { stream } = streamOpened.parse(await ask('/v1/stream/open', body))
    expect(stream).toMatchObject({ status: 'active', channel: { channelId: channel.id, baseline: '0' } })
    const used = { streamId: stream.id, amount: '3000' }
    expect(
      await ask('/v1/stream/update', { ...used, voucher: await wireVoucher(channel, 11_000n) }),
    ).toMatchObject({ code: 'INVALID_VOUCHER', errorReason: prefixed('cumulative_exceeds_balance') })
    expect(
      await ask('/v1/stream/update', { ...used, voucher: await wireVoucher(channel, 4_000n) }),
    ).toMatchObject({ remaining: '1000', canContinue: true })
    expect(await ask('/verify', await voucherBody(channel, 5_000n))).toMatchObject({ isValid: false })
    expect(await ask('/settle', await refundOrder(channel, { amount: 10_000n }))).toMatchObject({
      success: false,
      errorReason: 'duplicate_settlement',
    })
    const rows = [await rowOf(channel, 4_000n, 3_000n)]
    const claimAuthorizerSignature = await signClaimBatch(chain, channel.authorizer, rows)
    expect(await ask('/v1/stream/close', { streamId: stream.id, claimAuthorizerSignature })).toMatchObject({
      stream: { status: 'closed', settledAmount: '3000' },
    })
    expect(await ask('/settle', sweepBody(channel))).toMatchObject({ success: true, amount: '3000' })
  })
})
