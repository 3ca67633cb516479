import {
  type Address,
  encodeFunctionData,
  type Hex,
  hashTypedData,
  keccak256,
  padHex,
  parseAbi,
  stringToHex,
  zeroAddress,
} from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  batchSettlementAbi,
  batchSettlementAddress,
  type ChannelConfig,
  channelConfig,
  channelIdOf,
  claimBatchTypedData,
  encodeDepositPermit,
  erc3009DepositCollectorAddress,
  permit2DepositCollectorAddress,
  readChannel,
  readReceiver,
  signClaim,
  signClaimBatch,
  signErc3009Deposit,
  signPermit2Deposit,
  signRefund,
  type VoucherClaim,
} from '../support/evm/channels.js'
import { callContract } from '../support/evm/contractCalls.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { permit2Address, setUsdcAllowance } from '../support/evm/permit2.js'
import { toCompact, toHighS, toParityV } from '../support/evm/signatureForms.js'
import { deployTestToken, permitTokenBehaviours, type TestToken } from '../support/evm/testTokens.js'
import { splitSignature } from '../support/evm/upto.js'
import { permit2612TypedData } from '../support/evm/uptoRouter.js'
import {
  createEoa,
  createSoladyWallet,
  deployWallet,
  type EoaWallet,
  type PayerWallet,
} from '../support/evm/wallets.js'

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

  // The chain's clock runs ahead of the wall clock in the tests of withdrawals.
  const always = { validBefore: '99999999999' }

  const deposit = async (config: ChannelConfig, wallet: PayerWallet, amount: bigint) => {
    const { collector, collectorData } = await signErc3009Deposit(chain, { wallet, config, amount }, always)
    return call('deposit', [config, amount, collector, collectorData])
  }

  /** A channel with a deposit. */
  const openFunded = async (overrides: Partial<ChannelConfig> = {}, amount = 10_000n) => {
    const channel = await openChannel(overrides)
    expect((await deposit(channel.config, channel.payer, amount)).error).toBeNull()
    return channel
  }

  const approve = ({ address, abi }: TestToken, owner: Address, value: bigint) =>
    callContract(chain, {
      from: owner,
      to: address,
      abi,
      functionName: 'approve',
      args: [permit2Address, value],
    })

  /** By the receiver. */
  const claim = (config: ChannelConfig, ...claims: readonly VoucherClaim[]) =>
    call('claim', [claims], config.receiver)

  describe('a deposit', () => {
    const faults: readonly (readonly [string, Partial<ChannelConfig>, bigint, Address])[] = [
      ['InvalidChannel', { payer: zeroAddress, withdrawDelay: 0 }, 0n, zeroAddress],
      ['InvalidChannel', { receiver: zeroAddress, withdrawDelay: 0 }, 0n, zeroAddress],
      ['InvalidChannel', { receiverAuthorizer: zeroAddress, withdrawDelay: 0 }, 0n, zeroAddress],
      ['InvalidChannel', { token: zeroAddress, withdrawDelay: 0 }, 0n, zeroAddress],
      ['WithdrawDelayOutOfRange', { withdrawDelay: 899 }, 0n, zeroAddress],
      ['WithdrawDelayOutOfRange', { withdrawDelay: 2_592_001 }, 0n, zeroAddress],
      ['ZeroDeposit', {}, 0n, zeroAddress],
      ['InvalidCollector', {}, 1n, zeroAddress],
    ]

    it.each(faults)(
      'reverts with %s before later rules are read',
      async (error, changes, amount, collector) => {
        const config = channelConfig(changes)
        expect((await call('deposit', [config, amount, collector, '0x'])).error).toBe(error)
      },
    )

    it.each([900, 2_592_000])('takes a withdrawal delay of %d seconds', async (withdrawDelay) => {
      await openFunded({ withdrawDelay })
    })

    it('must bring exactly its amount, and keep the balance within 128 bits', async () => {
      const payer = createEoa()
      const most = 2n ** 128n - 1n
      for (const [name, amount, error] of [
        ['FeeOnTransferToken', 10_000n, 'DepositCollectionFailed'],
        ['GasBurnerToken', most, null],
      ] as const) {
        const token = await deployTestToken(chain, name, name === 'GasBurnerToken' ? [0n] : [])
        await token.mint(payer.address, amount)
        // What a token keeps of the first transfer is missing for the second.
        if (error !== null) await token.mint(erc3009DepositCollectorAddress, amount)
        const config = channelConfig({ payer: payer.address, token: token.address })
        const signed = await signErc3009Deposit(
          { chainId: chain.chainId, token: token.token },
          { wallet: payer, config, amount },
          always,
        )
        const args = [config, amount, signed.collector, signed.collectorData]
        expect((await call('deposit', args)).error).toBe(error)
        if (error !== null) continue
        expect((await call('deposit', [config, 1n, signed.collector, '0x'])).error).toBe('DepositOverflow')
      }
    })

    it('is collected by the settlement alone', async () => {
      const { payer, config } = await openChannel()
      const { collectorData } = await signErc3009Deposit(chain, { wallet: payer, config, amount: 1n })
      for (const to of [erc3009DepositCollectorAddress, permit2DepositCollectorAddress] as const) {
        const outcome = await callContract(chain, {
          from: relayer,
          to,
          abi: [
            ...batchSettlementAbi,
            ...parseAbi(['function collect(address, address, uint256, bytes32, bytes)']),
          ],
          functionName: 'collect',
          args: [payer.address, config.token, 1n, channelIdOf(chain.chainId, config), collectorData],
        })
        expect(outcome.error).toBe('OnlyX402BatchSettlement')
      }
    })

    it('is bound to its channel, its amount and one use', async () => {
      const { payer, config } = await openChannel()
      const signed = await signErc3009Deposit(chain, { wallet: payer, config, amount: 5n }, always)
      const send = (to: ChannelConfig, amount: bigint) =>
        call('deposit', [to, amount, signed.collector, signed.collectorData])
      expect((await send({ ...config, withdrawDelay: 901 }, 5n)).error).not.toBeNull()
      expect((await send(config, 4n)).error).not.toBeNull()
      expect((await send(config, 5n)).error).toBeNull()
      expect((await send(config, 5n)).error).not.toBeNull()
    })

    it('by Permit2 may carry a permit of its amount, whose failure only shows in the logs', async () => {
      const token = await deployTestToken(chain, 'HostilePermitToken')
      const { payer, config } = await openChannel({ token: token.address })
      await token.mint(payer.address, 10_000n)
      const permit = async (value: bigint, nonce: bigint) => {
        const spender: Address = permit2Address
        const terms = { owner: payer.address, spender, value, nonce, deadline: 99999999999n }
        const signature = await payer.signTypedData(permit2612TypedData(token.token, terms))
        return encodeDepositPermit({ value, deadline: terms.deadline, ...splitSignature(signature) })
      }
      const send = async (amount: bigint, permit2612: Hex) => {
        const deadline = { deadline: always.validBefore }
        const toSign = { wallet: payer, config, amount }
        const { collector, collectorData } = await signPermit2Deposit(chain, toSign, deadline, permit2612)
        return call('deposit', [config, amount, collector, collectorData])
      }
      expect((await send(4_000n, await permit(4_001n, 0n))).error).toBe('Permit2612AmountMismatch')
      expect((await send(4_000n, await permit(4_000n, 0n))).error).toBeNull()
      // The allowance is spent: a permit that fails leaves nothing to take.
      expect((await send(1_000n, await permit(1_000n, 0n))).error).not.toBeNull()
      await token.write('setBehaviour', [permitTokenBehaviours.indexOf('permitReverts')])
      await approve(token, payer.address, 1_000n)
      expect((await send(1_000n, await permit(1_000n, 1n))).error).toBeNull()
      const failures = await chain.client.getContractEvents({
        address: permit2DepositCollectorAddress,
        abi: parseAbi([
          'event EIP2612PermitFailedWithReason(address indexed token, address indexed owner, string reason)',
        ]),
        args: { token: token.address },
        fromBlock: 0n,
      })
      expect(failures.map(({ args }) => args.reason)).toEqual(['permit refused'])
    })
  })

  describe('a claim', () => {
    it('takes rows from the receiver and its authorizer alone', async () => {
      const { payer, authorizer, config } = await openFunded()
      const first = await signClaim(chain, payer, config, 100n)
      expect((await call('claim', [[first]])).error).toBe('NotAuthorizedToClaim')
      expect((await call('claim', [[first]], payer.address)).error).toBe('NotAuthorizedToClaim')
      expect((await call('claim', [[first]], authorizer.address)).error).toBeNull()
      expect((await claim(config, await signClaim(chain, payer, config, 200n))).error).toBeNull()
      const other = await signClaim(chain, payer, channelConfig({ receiver: relayer }), 300n)
      expect((await claim(config, other)).error).toBe('NotAuthorizedToClaim')
      expect((await claim(config)).error).toBe('EmptyBatch')
      expect((await call('claimWithSignature', [[], '0x'])).error).toBe('EmptyBatch')
    })

    it('reads the ceiling, then the balance, then the signature', async () => {
      const { payer, config } = await openFunded()
      const row = { ...(await signClaim(chain, payer, config, 10_000n)), signature: '0x' as const }
      const ceiling = { voucher: { channel: config, maxClaimableAmount: 20_000n } }
      expect((await claim(config, { ...row, totalClaimed: 10_001n })).error).toBe('ClaimExceedsCeiling')
      expect((await claim(config, { ...row, ...ceiling, totalClaimed: 10_001n })).error).toBe(
        'ClaimExceedsBalance',
      )
      expect((await claim(config, row)).error).toBe('InvalidSignature')
    })

    it('skips a row that raises nothing with its signature unread, and reverts as a whole otherwise', async () => {
      const { payer, config } = await openFunded()
      const second = await openFunded({ receiver: config.receiver })
      await claim(config, await signClaim(chain, payer, config, 500n))
      const stale = {
        voucher: { channel: config, maxClaimableAmount: 1n },
        signature: '0x',
        totalClaimed: 500n,
      } as const
      const good = await signClaim(chain, second.payer, second.config, 70n)
      const bad = { ...(await signClaim(chain, payer, config, 600n)), signature: good.signature }
      expect((await claim(config, stale, good, bad)).error).toBe('InvalidSignature')
      expect((await readChannel(chain, second.config)).totalClaimed).toBe(0n)
      const { error, events } = await claim(config, stale, good)
      expect([error, events.length]).toEqual([null, 1])
      expect((await readChannel(chain, second.config)).totalClaimed).toBe(70n)
      expect((await claim(config, stale)).events).toEqual([])
    })

    it('by signature needs one authorizer for all rows, which signed just these', async () => {
      const { payer, authorizer, config } = await openFunded()
      const other = await openFunded()
      const row = await signClaim(chain, payer, config, 100n)
      const foreign = await signClaim(chain, other.payer, other.config, 100n)
      const send = async (
        claims: readonly VoucherClaim[],
        signed = claims,
        signer: PayerWallet = authorizer,
      ) => (await call('claimWithSignature', [claims, await signClaimBatch(chain, signer, signed)])).error
      expect(await send([row, foreign])).toBe('NotReceiverAuthorizer')
      expect(await send([row], [row], other.authorizer)).toBe('InvalidSignature')
      expect(await send([{ ...row, totalClaimed: 99n }], [row])).toBe('InvalidSignature')
      // Signatures of vouchers are no part of what the authorizer signs.
      expect(await send([row], [{ ...row, signature: '0x' }])).toBeNull()
    })

    const forms: readonly (readonly [string, (signature: Hex) => Hex, string])[] = [
      ['high s', toHighS, 'ECDSAInvalidSignatureS'],
      ['v of 0 or 1', toParityV, 'ECDSAInvalidSignature'],
      ['64 bytes', toCompact, 'ECDSAInvalidSignatureLength'],
    ]

    it.each(forms)('refuses a voucher with %s', async (_form, change, error) => {
      const voucherKey = createEoa()
      const keyed = await openFunded({ payerAuthorizer: voucherKey.address })
      const keyedRow = await signClaim(chain, voucherKey, keyed.config, 100n)
      const changed = { ...keyedRow, signature: change(keyedRow.signature) }
      expect((await claim(keyed.config, changed)).error).toBe(error)
      expect((await claim(keyed.config, keyedRow)).error).toBeNull()

      const { payer, config } = await openFunded()
      const row = await signClaim(chain, payer, config, 100n)
      expect((await claim(config, { ...row, signature: change(row.signature) })).error).toBe(
        'InvalidSignature',
      )
    })

    it('of a channel with an authorizer takes its signature alone', async () => {
      const voucherKey = createEoa()
      const { payer, config } = await openFunded({ payerAuthorizer: voucherKey.address })
      const row = await signClaim(chain, payer, config, 100n)
      expect((await claim(config, row)).error).toBe('InvalidSignature')
    })

    it('asks a payer with code by EIP-1271, and never reads such a signature itself', async () => {
      const wallet = await deployWallet(chain, await createSoladyWallet(chain))
      await chain.mint(wallet.address, 1_000n)
      const { config } = await openChannel({ payer: wallet.address })
      expect((await deposit(config, wallet, 1_000n)).error).toBeNull()
      expect((await claim(config, await signClaim(chain, wallet, config, 100n))).error).toBeNull()

      const key = await openFunded()
      const row = await signClaim(chain, key.payer, key.config, 100n)
      await chain.control.setCode(key.payer.address, '0x00')
      expect((await claim(key.config, row)).error).toBe('InvalidSignature')
      await chain.control.setCode(key.payer.address, '0x')
      expect((await claim(key.config, row)).error).toBeNull()
    })
  })

  describe('a settlement', () => {
    it('pays what all channels of receiver and token owe, and nothing without an event', async () => {
      const { payer, config } = await openFunded()
      const second = await openFunded({ receiver: config.receiver })
      await claim(config, await signClaim(chain, payer, config, 300n))
      await claim(config, await signClaim(chain, second.payer, second.config, 40n))
      expect((await readChannel(chain, config)).balance).toBe(10_000n)
      expect(await call('settle', [config.receiver, config.token])).toMatchObject({
        events: [{ name: 'Settled', args: { amount: 340n, sender: expect.any(String) } }],
      })
      expect(await call('settle', [config.receiver, config.token])).toMatchObject({ error: null, events: [] })
      expect(await chain.balanceOf(config.receiver)).toBe(340n)
    })
  })

  describe('a refund', () => {
    it('is for the receiver and its authorizer, spends the nonce first, and is capped', async () => {
      const { payer, authorizer, config } = await openFunded()
      expect((await call('refund', [config, 1n], payer.address)).error).toBe('NotAuthorizedToRefund')
      expect((await call('refund', [config, 0n], config.receiver)).error).toBe('ZeroRefund')
      expect((await readChannel(chain, config)).refundNonce).toBe(0n)
      const early = await signRefund(chain, authorizer, config, { nonce: 0n, amount: 5n })
      await claim(config, await signClaim(chain, payer, config, 4_000n))
      expect(await call('refund', [config, 50_000n], config.receiver)).toMatchObject({
        events: [{ name: 'Refunded', args: { amount: 6_000n } }],
      })
      expect((await call('refundWithSignature', [config, 5n, 0n, early])).error).toBe('InvalidRefundNonce')
      expect((await call('refundWithSignature', [config, 5n, 1n, early])).error).toBe('InvalidSignature')
      const late = await signRefund(chain, authorizer, config, { nonce: 1n, amount: 5n })
      expect(await call('refundWithSignature', [config, 5n, 1n, late])).toMatchObject({
        error: null,
        events: [],
      })
      expect(await readChannel(chain, config)).toMatchObject({ balance: 4_000n, refundNonce: 2n })
    })

    it('shrinks or clears a pending withdrawal, and closes what is empty until the next deposit', async () => {
      const { payer, config } = await openFunded()
      await call('initiateWithdraw', [config, 5_000n], payer.address)
      await call('refund', [config, 2_000n], config.receiver)
      expect(await readChannel(chain, config)).toMatchObject({ withdrawal: { amount: 3_000n } })
      await call('refund', [config, 3_000n], config.receiver)
      expect(await readChannel(chain, config)).toMatchObject({ withdrawal: { amount: 0n, initiatedAt: 0 } })
      const { events } = await call('refund', [config, 5_000n], config.receiver)
      expect(events.map(({ name }) => name)).toEqual(['Refunded', 'ChannelClosed'])
      const again = await deposit(config, payer, 1n)
      expect(again.events.map(({ name }) => name)).toEqual(['ChannelCreated', 'Deposited'])
    })
  })

  describe('a withdrawal', () => {
    it('is for the payer and its authorizer, within what is available, once at a time', async () => {
      const voucherKey = createEoa()
      const { payer, config } = await openFunded({ payerAuthorizer: voucherKey.address })
      await claim(config, await signClaim(chain, voucherKey, config, 4_000n))
      const initiate = async (amount: bigint, from: Address) =>
        (await call('initiateWithdraw', [config, amount], from)).error
      expect(await initiate(1n, config.receiver)).toBe('InvalidChannel')
      expect(await initiate(0n, payer.address)).toBe('NothingToWithdraw')
      expect(await initiate(6_001n, payer.address)).toBe('WithdrawAmountExceedsAvailable')
      expect((await call('finalizeWithdraw', [config], payer.address)).error).toBe('WithdrawalNotPending')
      expect(await initiate(6_000n, voucherKey.address)).toBeNull()
      expect(await initiate(1n, payer.address)).toBe('WithdrawalAlreadyPending')
      expect((await call('finalizeWithdraw', [config], config.receiver)).error).toBe(
        'NotAuthorizedToFinalizeWithdraw',
      )
    })

    it('waits for its delay, then never expires, survives deposits, and pays what claims left', async () => {
      const { payer, config } = await openFunded()
      const { events } = await call('initiateWithdraw', [config, 9_000n], payer.address)
      const { withdrawal } = await readChannel(chain, config)
      const finalizeAfter = withdrawal.initiatedAt + 900
      expect(events).toMatchObject([{ name: 'WithdrawInitiated', args: { amount: 9_000n, finalizeAfter } }])
      await chain.control.setNextBlockTimestamp(finalizeAfter - 1)
      await chain.control.mine()
      expect((await call('finalizeWithdraw', [config], payer.address)).error).toBe('WithdrawDelayNotElapsed')
      await chain.control.increaseTime(30 * 86_400)
      await claim(config, await signClaim(chain, payer, config, 8_000n))
      expect((await deposit(config, payer, 500n)).error).toBeNull()
      expect(await readChannel(chain, config)).toMatchObject({ withdrawal })
      expect(await call('finalizeWithdraw', [config], payer.address)).toMatchObject({
        events: [{ name: 'WithdrawFinalized', args: { amount: 2_500n } }],
      })
      expect(await readChannel(chain, config)).toMatchObject({ balance: 8_000n, withdrawal: { amount: 0n } })
      const late = await signClaim(chain, payer, config, 10_000n)
      expect((await claim(config, late)).error).toBe('ClaimExceedsBalance')
    })

    it('of everything closes the channel', async () => {
      const { payer, config } = await openFunded()
      await call('initiateWithdraw', [config, 10_000n], payer.address)
      await chain.control.increaseTime(901)
      await chain.control.mine()
      const { events } = await call('finalizeWithdraw', [config], payer.address)
      expect(events.map(({ name }) => name)).toEqual(['WithdrawFinalized', 'ChannelClosed'])
      expect(await chain.balanceOf(payer.address)).toBe(1_000_000n)
    })
  })

  describe('a multicall', () => {
    const encode = (functionName: 'claim' | 'refund' | 'settle', ...args: readonly unknown[]): Hex =>
      encodeFunctionData<readonly unknown[]>({ abi: batchSettlementAbi, functionName, args })

    it('runs guarded calls for its sender, all or none', async () => {
      const { payer, config } = await openFunded()
      const rows = [await signClaim(chain, payer, config, 3_000n)]
      const good = [encode('claim', rows), encode('settle', config.receiver, config.token)]
      const bad = [...good, encode('refund', config, 0n)]
      expect((await call('multicall', [bad], config.receiver)).error).toBe('ZeroRefund')
      expect((await readChannel(chain, config)).totalClaimed).toBe(0n)
      expect((await call('multicall', [good])).error).toBe('NotAuthorizedToClaim')
      expect((await call('multicall', [['0x12345678']])).error).toBe('FailedCall')
      const { events } = await call(
        'multicall',
        [[...good, encode('refund', config, 9_000n)]],
        config.receiver,
      )
      expect(events.map(({ name }) => name)).toEqual(['Claimed', 'Settled', 'Refunded'])
    })
  })

  it('lets no token call back, and tells a transfer that is refused without a reason', async () => {
    const token = await deployTestToken(chain, 'HostilePermitToken')
    const { payer, config } = await openChannel({ token: token.address })
    await token.mint(payer.address, 1_000n)
    await approve(token, payer.address, 1_000n)
    const signed = await signPermit2Deposit(
      chain,
      { wallet: payer, config, amount: 1_000n },
      { deadline: always.validBefore },
    )
    const args = [config, 1_000n, signed.collector, signed.collectorData]
    expect((await call('deposit', args)).error).toBeNull()
    await claim(config, await signClaim(chain, payer, config, 100n))
    const settle = () => call('settle', [config.receiver, config.token])
    await token.write('setBehaviour', [permitTokenBehaviours.indexOf('transferReturnsFalse')])
    expect((await settle()).error).toBe('SafeERC20FailedOperation')
    const reentry = encodeFunctionData({
      abi: batchSettlementAbi,
      functionName: 'settle',
      args: [config.receiver, config.token],
    })
    await token.write('setReentry', [batchSettlementAddress, reentry])
    await token.write('setBehaviour', [permitTokenBehaviours.indexOf('transferReenters')])
    expect((await settle()).error).toBeNull()
    const [reentered] = await chain.client.getContractEvents({
      address: token.address,
      abi: parseAbi(['event Reentered(bool isDone, bytes result)']),
      eventName: 'Reentered',
      fromBlock: 0n,
    })
    const selector = keccak256(stringToHex('ReentrancyGuardReentrantCall()')).slice(0, 10)
    expect(reentered?.args).toEqual({ isDone: false, result: selector })
  })
})
