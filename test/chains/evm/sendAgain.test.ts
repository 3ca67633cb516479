import { encodeFunctionData, erc20Abi, type Hex, isHex, parseTransaction } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/errors.js'
import { newestTransaction } from '../../../src/stores/postgres/journal/settlementStates.js'
import { reconcileUntilDecided } from '../../support/coreClient.js'
import { setBatchSettler } from '../../support/evm/localChain.js'
import { permitPayment, setUsdcAllowance } from '../../support/evm/permit2.js'
import { uptoPayment as uptoPermit2Payment } from '../../support/evm/uptoPermit2.js'
import {
  createEoa,
  createSoladyWallet,
  deployWallet,
  type EoaWallet,
  getSoladyFactory,
} from '../../support/evm/wallets.js'
import { createMemoryLogger, type MemoryLogger } from '../../support/memoryLogger.js'
import { pollUntil } from '../../support/pollUntil.js'
import { useScene } from '../../support/useScene.js'
import { openScene, readRecordedBytes } from './scene.js'
import { cancelAuthorization } from './strangers.js'
import { openUpto, type UptoService } from './upto/scene.js'

/*
 * Payments that reorgs take back after `success: true`: the same bytes pay again, and what reverts although its
 * authorization is unused is sent again.
 */

const scene = useScene(openScene)

const amount = 10_000n
const finalityDepth = 6

/** Without the router, Multicall3 makes batches. */
const open = async ({
  rpcUrls = [scene.chain.url],
  hasRouter = true,
  environment = {},
}: {
  readonly rpcUrls?: readonly string[]
  readonly hasRouter?: boolean
  readonly environment?: Readonly<Record<string, string>>
} = {}) => {
  const logger = createMemoryLogger()
  const service = await openUpto(scene, {
    logger,
    rpcUrls,
    ...(hasRouter ? {} : { prepare: async () => undefined }),
    environment: {
      ...environment,
      [`EVM_FINALITY_DEPTH_${scene.chain.chainId}`]: String(finalityDepth),
    },
  })
  return { service, logger }
}

const readRow = async (payer: string) => {
  const { rows } = await scene.database
    .pool()
    .query(
      `select id, state, reason, ${newestTransaction('s')} as transaction, transactions from settlements s where payer = $1`,
      [payer],
    )
  expect(rows).toHaveLength(1)
  return rows[0]
}

const decide = async (service: UptoService, payer: string) => {
  const { id: settlementId } = await readRow(payer)
  await reconcileUntilDecided(service, { settlementId })
  return await readRow(payer)
}

const readBytes = (transaction: string): Promise<Hex> => readRecordedBytes(scene, transaction)

const readPayer = async (transaction: string): Promise<string> => {
  const { rows } = await scene.database
    .pool()
    .query(`select payer from settlements s where ${newestTransaction('s')} = $1`, [transaction])
  return String(rows[0]?.payer)
}

const readReceipt = (transaction: string) => {
  if (!isHex(transaction)) throw new Error('There is no transaction')
  return scene.chain.client.getTransactionReceipt({ hash: transaction })
}

const settle = async (service: UptoService, body: unknown) => {
  const result = await service.settle(body)
  expect(result).toMatchObject({ success: true })
  return result.transaction
}

/** The payers of whom the log says that a payment was lost. */
const listLost = ({ lines }: MemoryLogger) =>
  lines.flatMap(({ message, fields }) => (message === 'settlement.lost_after_success' ? [fields.payer] : []))

/**
 * Replaces the last blocks with empty ones, changes the chain, and lets the service notice. Nothing is mined before the
 * change: the service may send the same bytes again at any time.
 */
const takeBack = async ({ core }: UptoService, depth: number, change: () => Promise<void>) => {
  const { control } = scene.chain
  await control.setAutomine(false)
  await control.reorg(depth)
  await change()
  await control.setAutomine(true)
  await control.mine()
  await core.detectReorgs()
  await core.detectReorgs()
}

/** An empty transaction of our signer with the nonce of a settlement. */
const signInPlaceOf = async ({ signers: [signer] }: UptoService, transaction: string): Promise<Hex> => {
  if (signer === undefined) throw new Error('There is no signer')
  const { nonce } = parseTransaction(await readBytes(transaction))
  const { maxFeePerGas, maxPriorityFeePerGas } = await scene.chain.client.estimateFeesPerGas()
  return await signer.account.signTransaction({
    chainId: scene.chain.chainId,
    nonce: nonce ?? 0,
    to: signer.address,
    gas: 21_000n,
    maxFeePerGas: 2n * maxFeePerGas,
    maxPriorityFeePerGas,
  })
}

const isRepeated = (text: string, index: number, texts: readonly string[]): boolean =>
  texts.indexOf(text) !== index

interface Parties {
  readonly service: UptoService
  readonly wallet: EoaWallet
  readonly payTo: Hex
  /** 0 for the first payment, 1 for the second. */
  readonly index: number
}

const methods: readonly (readonly [string, (parties: Parties) => Promise<unknown>])[] = [
  ['EIP-3009', async ({ wallet, payTo }) => (await scene.plan({ wallet, payTo, amount })).body],
  [
    'Permit2',
    async ({ wallet, payTo, index }) => {
      await scene.chain.mint(wallet.address, amount)
      await setUsdcAllowance(scene.chain, wallet.address)
      // Both nonces are in one word of the bitmap.
      return await permitPayment({ chain: scene.chain, wallet, payTo, amount, permit: { nonce: `${index}` } })
    },
  ],
  [
    'upto by Permit2',
    async ({ service: { router: facilitator }, wallet, payTo, index }) => {
      await scene.chain.mint(wallet.address, amount)
      await setUsdcAllowance(scene.chain, wallet.address)
      const permit = { nonce: `${index}` }
      const body = await uptoPermit2Payment({
        chain: scene.chain,
        wallet,
        payTo,
        facilitator,
        amount,
        permit,
      })
      return { ...body, settleAmount: String(amount) }
    },
  ],
  [
    'upto by a permit for the router of the recipient',
    async ({ service, payTo }) => {
      // Of a payer each, because the nonces of permits are in sequence.
      const { body } = await service.plan({ payTo, maxAmount: amount })
      return { ...body, settleAmount: String(amount) }
    },
  ],
]

describe('the gas limit of a payment', () => {
  it.each(methods)(
    'by %s is enough when a reorg takes back the payment before it, which made it cheaper',
    async (_, plan) => {
      const { service } = await open()
      const [wallet, payTo] = [createEoa(), createEoa().address]
      const first = await plan({ service, wallet, payTo, index: 0 })
      const second = await plan({ service, wallet, payTo, index: 1 })
      await scene.chain.mint(wallet.address, 2n * amount)
      await scene.chain.control.mine()

      const taken = await settle(service, first)
      const transaction = await settle(service, second)
      const filler = await signInPlaceOf(service, taken)
      const cheap = await readReceipt(transaction)
      await scene.chain.control.reorg(2, [filler, await readBytes(transaction)])

      const receipt = await readReceipt(transaction)
      expect(receipt.status).toBe('success')
      expect(receipt.gasUsed).toBeGreaterThan(cheap.gasUsed + 17_000n)
      expect(await scene.chain.balanceOf(payTo)).toBe(amount)
    },
  )

  it('that deploys its wallet is enough when a reorg takes back that a stranger had deployed it', async () => {
    const proxy = await scene.openProxy()
    const { service } = await open({
      rpcUrls: [proxy.url],
      environment: {
        DEPLOY_ERC4337_WITH_EIP6492: 'true',
        EVM_SMART_WALLET_FACTORIES: await getSoladyFactory(scene.chain),
      },
    })
    const wallet = await createSoladyWallet(scene.chain)
    const { body, payTo } = await scene.plan({ wallet, amount })
    const release = proxy.hold('eth_estimateGas')
    const settling = settle(service, body)
    await pollUntil(async () => proxy.count('eth_estimateGas') > 0, 'the estimate')
    await deployWallet(scene.chain, wallet)
    release()
    const transaction = await settling
    const cheap = await readReceipt(transaction)
    await scene.chain.control.reorg(2, [await readBytes(transaction)])

    const receipt = await readReceipt(transaction)
    expect(receipt.status).toBe('success')
    expect(receipt.gasUsed).toBeGreaterThan(cheap.gasUsed + 50_000n)
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
  })
})

describe('a payment whose transaction reverts after a reorg, although its authorization is unused', () => {
  /** Settles, and lets a reorg take the payment back while the token is paused, so that the same bytes revert. */
  const revertAfterReorg = async (service: UptoService, body: unknown) => {
    const transaction = await settle(service, body)
    await takeBack(service, 1, () => scene.chain.setPaused(true))
    const receipt = await pollUntil(async () => {
      await service.reconcile()
      return await readReceipt(transaction).catch(() => null)
    }, 'the same bytes to be mined again')
    expect(receipt).toMatchObject({ status: 'reverted' })
    return transaction
  }

  afterEach(() => scene.chain.setPaused(false))

  it.each(methods)('by %s is pending until it can be paid, and then paid once', async (_, plan) => {
    const { service, logger } = await open()
    const [wallet, payTo] = [createEoa(), createEoa().address]
    const body = await plan({ service, wallet, payTo, index: 0 })
    const transaction = await revertAfterReorg(service, body)
    // Final, but it would be wrong to give it up: the authorization is good for minutes.
    await scene.chain.control.mine(finalityDepth + 1)
    await service.reconcile()
    await service.reconcile()
    const payer = await readPayer(transaction)
    expect(await readRow(payer)).toMatchObject({ state: 'pending', transactions: [transaction] })

    await scene.chain.setPaused(false)
    const row = await decide(service, payer)
    expect(row).toMatchObject({ state: 'confirmed', transactions: [transaction, row.transaction] })
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
    const { gasUsed } = await readReceipt(row.transaction)
    const { gas = 0n } = parseTransaction(await readBytes(row.transaction))
    expect(gas).toBeGreaterThan(gasUsed + 150_000n)
    // The hourly budget is drawn by the limit: a payment that is sent again takes little more than another one.
    expect(gas).toBeLessThan(2n * gasUsed + 150_000n)
    expect(logger.messages()).toContain('settlement.sent_again')
    expect(listLost(logger)).not.toContain(payer)
    expect(await service.settle(body, 'key-of-another')).toMatchObject({
      errorReason: 'duplicate_settlement',
    })
  })

  it.each([
    ['BatchSettler', 'EIP-3009'],
    ['Multicall3', 'EIP-3009'],
    ['the router', 'EIP-3009'],
    ['the router', 'Permit2'],
    ['the router', 'upto by Permit2'],
    ['the router', 'upto by a permit for the router of the recipient'],
  ])('inside a batch of %s, by %s, is paid alone', async (contract, method) => {
    await setBatchSettler(scene.chain.url, contract === 'BatchSettler')
    const { service } = await open({ hasRouter: contract !== 'Multicall3' })
    const plan = methods.find(([name]) => name === method)?.[1]
    if (plan === undefined) throw new Error(`There is no method ${method}`)
    const settleThree = async () => {
      const parties = Array.from({ length: 3 }, () => ({ wallet: createEoa(), payTo: createEoa().address }))
      const bodies = await Promise.all(parties.map((each) => plan({ service, ...each, index: 0 })))
      const transactions = await Promise.all(bodies.map((body) => settle(service, body)))
      return { parties, transactions, batch: transactions.find(isRepeated) }
    }
    // Which calls share a transaction depends on when they arrive.
    const settled = await pollUntil(async () => {
      const { batch, ...rest } = await settleThree()
      return batch === undefined ? null : { batch, ...rest }
    }, 'two payments in one transaction')
    const { parties, transactions, batch } = settled
    const shared = parties.filter((_party, index) => transactions[index] === batch)
    const receipts = await Promise.all(transactions.map(readReceipt))
    const [refused] = shared
    if (refused === undefined) throw new Error('The batch is empty')
    const depth = new Set(receipts.map(({ blockNumber }) => blockNumber)).size
    await takeBack(service, depth, () => scene.chain.setBlacklisted(refused.payTo, true))
    await service.reconcile()
    await service.reconcile()
    expect(await scene.chain.balanceOf(refused.payTo)).toBe(0n)
    expect(await readReceipt(batch)).toMatchObject({ status: 'success' })

    await scene.chain.setBlacklisted(refused.payTo, false)
    await pollUntil(async () => {
      await service.reconcile()
      const balances = await Promise.all(parties.map(({ payTo: to }) => scene.chain.balanceOf(to)))
      return balances.every((balance) => balance === amount)
    }, 'every payment of the batch')
    await service.reconcile()
    for (const { payTo } of parties) {
      expect(await scene.chain.balanceOf(payTo)).toBe(amount)
      expect(await scene.countTransfersTo(payTo)).toBe(1)
    }
  })

  const readStates = async (payers: readonly string[]) => {
    const { rows } = await scene.database
      .pool()
      .query('select state, cardinality(transactions) as sends from settlements where payer = any($1)', [
        payers,
      ])
    return rows.map(({ state, sends }) => `${state} ${sends}`)
  }

  it('is sent again although strangers have spent the hourly budget', async () => {
    const budget = { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1500000' }
    const { service } = await open({ environment: budget })
    const { body, payer, payTo } = await scene.plan({ amount })
    const before = await scene.chain.client.getBlockNumber()
    await settle(service, body)
    const payers: Hex[] = [payer]
    await pollUntil(async () => {
      const other = await scene.plan({ amount })
      return await service.settle(other.body).then(
        () => {
          payers.push(other.payer)
          return false
        },
        (error) => error instanceof AppError && error.message.includes('budget'),
      )
    }, 'the end of the budget')
    const depth = Number((await scene.chain.client.getBlockNumber()) - before)
    await takeBack(service, depth, () => scene.chain.setPaused(true))
    await service.reconcile()
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })

    await scene.chain.setPaused(false)
    // The reorg took back their funds too.
    await Promise.all(payers.slice(1).map((stranger) => scene.chain.mint(stranger, amount)))
    await pollUntil(
      async () => {
        await service.reconcile()
        return (await readStates(payers)).every((state) => state.startsWith('confirmed'))
      },
      'the confirmation of all',
      () => readStates(payers),
    )
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
  })

  it('is sent again once by two instances that reconcile at once', async () => {
    const { service } = await open()
    const { service: other } = await open()
    const { body, payer, payTo } = await scene.plan({ amount })
    const transaction = await revertAfterReorg(service, body)
    await scene.chain.setPaused(false)
    await Promise.all([service, other, service, other].map(({ reconcile }) => reconcile()))
    // Until then a round can find the row owned by the other instance.
    const row = await decide(service, payer)
    expect(row).toMatchObject({ state: 'confirmed', transactions: [transaction, row.transaction] })
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
  })

  it('because another program used its nonce is sent again with a new one', async () => {
    const { service } = await open()
    const { body, payer, payTo } = await scene.plan({ amount })
    const transaction = await settle(service, body)
    await scene.chain.control.reorg(1, [await signInPlaceOf(service, transaction)])
    await scene.chain.control.mine(40)
    await service.core.detectReorgs()
    await service.core.detectReorgs()
    const row = await decide(service, payer)
    expect(row).toMatchObject({ state: 'confirmed', transactions: [transaction, row.transaction] })
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
  })

  it('whose authorization the payer cancels is lost, with a log entry', async () => {
    const { service, logger } = await open()
    const wallet = createEoa()
    const { body, payer } = await scene.plan({ wallet, amount })
    await revertAfterReorg(service, body)
    await scene.chain.setPaused(false)
    await cancelAuthorization(scene, wallet, body.paymentPayload.payload.authorization.nonce)
    await scene.chain.control.mine(finalityDepth + 1)
    expect(await decide(service, payer)).toMatchObject({
      state: 'failed',
      reason: 'invalid_exact_evm_nonce_already_used',
    })
    expect(listLost(logger)).toContain(payer)
  })

  it('in every transaction that its simulation promises is given up after the fifth', async () => {
    const proxy = await scene.openProxy()
    const { service, logger } = await open({ rpcUrls: [proxy.url] })
    const { body, payer } = await scene.plan({ amount })
    await revertAfterReorg(service, body)
    // As a wallet that tells a simulation from a transaction.
    proxy.setFault('eth_estimateGas', { kind: 'rewrite', change: () => [{ to: createEoa().address }] })
    await pollUntil(async () => {
      await service.reconcile()
      return (await readRow(payer)).transactions.length >= 5
    }, 'the fifth transaction')
    for (let round = 0; round < 3; round++) await service.reconcile()
    const { state, transactions } = await readRow(payer)
    expect({ state, count: transactions.length }).toEqual({ state: 'pending', count: 5 })
    await scene.chain.control.mine(finalityDepth + 1)
    expect(await decide(service, payer)).toMatchObject({ state: 'failed' })
    expect(listLost(logger)).toContain(payer)
  })

  const moveAllFunds = async (wallet: EoaWallet) => {
    const balance = await scene.chain.balanceOf(wallet.address)
    await scene.chain.fundGas(wallet.address)
    const args = [createEoa().address, balance] as const
    await scene.chain.send({
      account: wallet.account,
      to: scene.chain.token.verifyingContract,
      data: encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args }),
    })
  }

  /** Settles payments one after the other and takes them back while the token is paused. */
  const revertAllAfterReorg = async (service: UptoService, bodies: readonly unknown[]) => {
    const before = await scene.chain.client.getBlockNumber()
    for (const body of bodies) await settle(service, body)
    const depth = Number((await scene.chain.client.getBlockNumber()) - before)
    await takeBack(service, depth, () => scene.chain.setPaused(true))
    await service.reconcile()
    await service.reconcile()
    await scene.chain.setPaused(false)
  }

  it('and never expires is sent again too', async () => {
    const { service, logger } = await open()
    const authorization = { validBefore: String(2n ** 256n - 1n) }
    const { body, payer, payTo } = await scene.plan({ amount, authorization })
    await revertAfterReorg(service, body)
    await scene.chain.setPaused(false)
    await scene.chain.control.mine(finalityDepth + 1)
    expect(await decide(service, payer)).toMatchObject({ state: 'confirmed' })
    expect(await scene.chain.balanceOf(payTo)).toBe(amount)
    expect(listLost(logger)).not.toContain(payer)
  })

  it('and whose payer has no funds is given up a day later, whenever it expires', async () => {
    const { service, logger } = await open()
    const wallet = createEoa()
    const tenYears = 315_000_000
    const authorization = { validBefore: String(Math.floor(Date.now() / 1_000) + tenYears) }
    const { body, payer } = await scene.plan({ wallet, amount, authorization })
    await revertAfterReorg(service, body)
    await scene.chain.setPaused(false)
    await moveAllFunds(wallet)
    await scene.chain.control.mine(finalityDepth + 1)
    await service.reconcile()
    expect(await readRow(payer)).toMatchObject({ state: 'pending' })
    await scene.database
      .pool()
      .query("update settlements set created_at = created_at - interval '1 day' where payer = $1", [payer])
    expect(await decide(service, payer)).toMatchObject({ state: 'failed' })
    expect(listLost(logger)).toContain(payer)
  })

  it('is not sent beside another one of the same balance', async () => {
    const proxy = await scene.openProxy()
    // As nodes that estimate in the latest block, not in the pending one.
    proxy.setFault('eth_estimateGas', { kind: 'rewrite', change: ([request]) => [request, 'latest'] })
    const { service, logger } = await open({ rpcUrls: [proxy.url] })
    const wallet = createEoa()
    const plans = await Promise.all(Array.from({ length: 6 }, () => scene.plan({ wallet, amount })))
    await revertAllAfterReorg(
      service,
      plans.map(({ body }) => body),
    )
    await moveAllFunds(wallet)
    for (const [index] of plans.entries()) {
      await scene.chain.mint(wallet.address, amount)
      // Rounds between two blocks; a row that is being worked on is left out of one.
      await pollUntil(async () => {
        await scene.chain.control.setAutomine(false)
        await service.core.reconcileSettlements()
        await scene.chain.control.setAutomine(true)
        await scene.chain.control.mine()
        const states = await readStates([wallet.address])
        return states.filter((state) => state.startsWith('confirmed')).length > index
      }, 'the next confirmation')
    }
    expect(await readStates([wallet.address])).toEqual(plans.map(() => 'confirmed 2'))
    // Rounds also end what earlier tests have left.
    for (const { payer } of plans) expect(listLost(logger)).not.toContain(payer)
  })
})
