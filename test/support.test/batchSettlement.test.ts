import type { Address } from 'viem'
import { hashTypedData, padHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  batchSettlementAbi,
  batchSettlementAddress,
  type ChannelConfig,
  channelConfig,
  channelIdOf,
  claimBatchTypedData,
  readChannel,
  readReceiver,
  signClaim,
  signClaimBatch,
  signErc3009Deposit,
  signPermit2Deposit,
  signRefund,
} from '../support/evm/channels.js'
import { callContract } from '../support/evm/contractCalls.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { setUsdcAllowance } from '../support/evm/permit2.js'
import { createEoa, type EoaWallet } from '../support/evm/wallets.js'

const numbered = (number: number): Address => padHex(`0x${number}`, { size: 20 })

describe('the settlement of payment channels', () => {
  let chain: LocalChain
  const relayer = createEoa().address

  beforeAll(async () => {
    chain = await startLocalChain({ hasBatchSettlement: true })
  })
  afterAll(() => chain.stop())

  const call = (functionName: string, args: readonly unknown[], from: Address = relayer) =>
    callContract(chain, { from, to: batchSettlementAddress, abi: batchSettlementAbi, functionName, args })

  interface OpenChannel {
    readonly payer: EoaWallet
    readonly authorizer: EoaWallet
    readonly config: ChannelConfig
  }

  /** A payer with USDC, and no deposit. */
  const openChannel = async (overrides: Partial<ChannelConfig> = {}): Promise<OpenChannel> => {
    const payer = createEoa()
    const authorizer = createEoa()
    await chain.mint(payer.address, 1_000_000n)
    const config = channelConfig({
      payer: payer.address,
      receiverAuthorizer: authorizer.address,
      token: chain.token.verifyingContract,
      ...overrides,
    })
    return { payer, authorizer, config }
  }

  it('derives channel ids and batch digests as published', async () => {
    const config: ChannelConfig = {
      payer: numbered(1),
      payerAuthorizer: numbered(2),
      receiver: numbered(3),
      receiverAuthorizer: numbered(4),
      token: numbered(5),
      withdrawDelay: 900,
      salt: padHex('0x', { size: 32 }),
    }
    const id = '0x544924a10a10b54a1b4389746d7205f08ddd246d58640217673fb24b1430fabe'
    const digest = '0x597b1fae22a2b365a81f02b50a82bd936df29c408b551456e090dcce2b1c006f'
    const contract = { address: batchSettlementAddress, abi: batchSettlementAbi } as const
    expect(channelIdOf(84532, config)).toBe(id)
    expect(
      await chain.client.readContract({ ...contract, functionName: 'getChannelId', args: [config] }),
    ).toBe(id)
    const entry = { channelId: id, maxClaimableAmount: 5000n, totalClaimed: 3900n } as const
    expect(hashTypedData(claimBatchTypedData(84532, [entry]))).toBe(digest)
    const claim = {
      voucher: { channel: config, maxClaimableAmount: 5000n },
      signature: '0x',
      totalClaimed: 3900n,
    } as const
    expect(
      await chain.client.readContract({ ...contract, functionName: 'getClaimBatchDigest', args: [[claim]] }),
    ).toBe(digest)
  })

  it('is paid into, claimed, settled and refunded by whoever relays what the parties signed', async () => {
    const { payer, authorizer, config } = await openChannel()
    const channelId = channelIdOf(chain.chainId, config)
    const deposit = await signErc3009Deposit(chain, { wallet: payer, config, amount: 10_000n })
    expect(await call('deposit', [config, 10_000n, deposit.collector, deposit.collectorData])).toMatchObject({
      error: null,
      events: [
        { name: 'ChannelCreated', args: { channelId, config } },
        { name: 'Deposited', args: { channelId, amount: 10_000n, newBalance: 10_000n } },
      ],
    })
    const claims = [await signClaim(chain, payer, config, 5_000n, 3_900n)]
    const signature = await signClaimBatch(chain, authorizer, claims)
    expect(await call('claimWithSignature', [claims, signature])).toMatchObject({
      error: null,
      events: [{ name: 'Claimed', args: { channelId, claimAmount: 3_900n, newTotalClaimed: 3_900n } }],
    })
    expect(await chain.balanceOf(config.receiver)).toBe(0n)
    expect(await call('settle', [config.receiver, config.token])).toMatchObject({
      error: null,
      events: [{ name: 'Settled', args: { receiver: expect.any(String), amount: 3_900n } }],
    })
    expect(await chain.balanceOf(config.receiver)).toBe(3_900n)
    const refund = await signRefund(chain, authorizer, config, { nonce: 0n, amount: 50_000n })
    expect(await call('refundWithSignature', [config, 50_000n, 0n, refund])).toMatchObject({
      error: null,
      events: [{ name: 'Refunded', args: { channelId, amount: 6_100n } }],
    })
    expect(await chain.balanceOf(payer.address)).toBe(1_000_000n - 3_900n)
    expect(await readChannel(chain, config)).toEqual({
      balance: 3_900n,
      totalClaimed: 3_900n,
      withdrawal: { amount: 0n, initiatedAt: 0 },
      refundNonce: 1n,
    })
    expect(await readReceiver(chain, config.receiver, config.token)).toEqual({
      totalClaimed: 3_900n,
      totalSettled: 3_900n,
    })
  })

  it('takes deposits by Permit2, bound to their channel', async () => {
    const { payer, config } = await openChannel()
    await setUsdcAllowance(chain, payer.address)
    const { collector, collectorData } = await signPermit2Deposit(chain, {
      wallet: payer,
      config,
      amount: 7_000n,
    })
    const other = { ...config, salt: padHex('0x1', { size: 32 }) }
    expect((await call('deposit', [other, 7_000n, collector, collectorData])).error).not.toBeNull()
    expect(await call('deposit', [config, 7_000n, collector, collectorData])).toMatchObject({ error: null })
    expect(await readChannel(chain, config)).toMatchObject({ balance: 7_000n, totalClaimed: 0n })
    expect(await chain.balanceOf(payer.address)).toBe(993_000n)
  })
})
