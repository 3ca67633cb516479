import { encodeFunctionData, type Hex, hexToNumber, parseSignature, parseTransaction } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isBatch } from '../../../../../src/chains/evm/transactions/batching/batch.js'
import type { Outcome } from '../../../../../src/schemes/scheme.js'
import { callRpc } from '../../../../support/evm/jsonRpc.js'
import { multicall3Address, usdcAbi } from '../../../../support/evm/localChain.js'
import { deployTestToken } from '../../../../support/evm/testTokens.js'
import { encodeTransfer } from '../../../../support/evm/transfer.js'
import {
  createDelegatedEoa,
  createEoa,
  createSafeWallet,
  deployWallet,
  type EoaWallet,
} from '../../../../support/evm/wallets.js'
import { killInstance } from '../../../../support/instances.js'
import { eventually, openScene, type PlannedPayment, planPayment, type Scene } from '../../scene.js'
import { createSigner, openSending, type Sending, type SendingOptions } from '../sendingScene.js'

/*
 * Payments that travel together in one Multicall3 transaction: what one of them suffers costs the others nothing,
 * and each is told what became of it alone.
 */

let scene: Scene
const opened: Sending[] = []

beforeAll(async () => {
  scene = await openScene()
})
afterEach(async () => {
  for (const sending of opened.splice(0)) await sending.close()
  await scene.chain.setPaused(false)
  await scene.reset()
})
afterAll(() => scene.close())

const open = async (options?: SendingOptions): Promise<Sending> => {
  const sending = await openSending(scene, options)
  opened.push(sending)
  return sending
}

// JUMPDEST PUSH1 0 JUMP: runs until the gas is gone.
const endlessLoop = '0x5b600056'

const planMany = (count: number): Promise<readonly PlannedPayment[]> =>
  Promise.all(Array.from({ length: count }, () => scene.plan()))

const countTransactions = (outcomes: readonly Outcome[]): number =>
  new Set(outcomes.map((outcome) => ('transaction' in outcome ? outcome.transaction : undefined))).size

const states = (outcomes: readonly Outcome[]) =>
  outcomes.map((outcome) => (outcome.state === 'failed' ? outcome.reason : outcome.state))

const listRecorded = async (signers: readonly { readonly address: string }[]) => {
  const { rows } = await scene.database.pool().query(
    `select b.nonce::int as nonce, b.bytes, count(s.settlement_id)::int as payments from broadcasts b
       left join broadcast_settlements s on s.network = b.network and s.transaction = b.transaction
       where b.signer = any($1) group by b.nonce, b.bytes order by b.nonce`,
    [signers.map(({ address }) => address)],
  )
  return rows.map(({ nonce, bytes, payments }) => ({
    nonce: Number(nonce),
    bytes: String(bytes),
    payments: Number(payments),
  }))
}

const cancelAuthorization = async ({ body }: PlannedPayment, wallet: EoaWallet): Promise<void> => {
  const { nonce } = body.paymentPayload.payload.authorization
  const signature = await wallet.account.signTypedData({
    domain: scene.chain.token,
    types: {
      CancelAuthorization: [
        { name: 'authorizer', type: 'address' },
        { name: 'nonce', type: 'bytes32' },
      ],
    },
    primaryType: 'CancelAuthorization',
    message: { authorizer: wallet.address, nonce },
  })
  const { r, s, yParity } = parseSignature(signature)
  await sendAsStranger({
    to: scene.chain.token.verifyingContract,
    data: encodeFunctionData({
      abi: usdcAbi,
      functionName: 'cancelAuthorization',
      args: [wallet.address, nonce, 27 + yParity, r, s],
    }),
  })
}

const sendAsStranger = async (call: { readonly to: Hex; readonly data: Hex }): Promise<void> => {
  const { status } = await scene.chain.send({ account: (await createSigner(scene)).account, ...call })
  expect(status).toBe('success')
}

/** Takes away what a payer owns. */
const sweep = ({ payer, body }: PlannedPayment): Promise<void> =>
  scene.chain.mint(payer, -BigInt(body.paymentRequirements.amount))

/** From now on no broadcast can be committed. */
const refuseRecords = async (): Promise<void> => {
  await scene.database.pool().query(`
    create function refuse() returns trigger language plpgsql as $$ begin raise 'no commit'; end $$;
    create constraint trigger refuse after insert on broadcasts deferrable initially deferred
      for each row execute function refuse()`)
}

/** Waits until so many transactions are in the pool. */
const whenInPool = (count: number) =>
  eventually(async () => {
    const status = await callRpc(scene.chain.url, 'txpool_status')
    if (typeof status !== 'object' || status === null || !('pending' in status)) return null
    return hexToNumber(`0x${String(status.pending).replace(/^0x/, '')}`) >= count ? true : null
  })

describe('payments that wait together', () => {
  it('settle in one transaction, each payment is told success, and each recipient has its sum', async () => {
    const sending = await open()
    const plans = await planMany(20)
    const outcomes = await sending.settleTogether(plans)
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(countTransactions(outcomes)).toBe(1)
    for (const { payTo, payer } of plans) {
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
      expect(await scene.chain.balanceOf(payer)).toBe(0n)
    }
    const [recorded, ...others] = await listRecorded(sending.signers)
    expect(others).toEqual([])
    expect(recorded?.payments).toBe(20)
  })

  it('of 120 at once go in three transactions of at most fifty', async () => {
    const sending = await open()
    const payTo = createEoa().address
    const plans = await Promise.all(Array.from({ length: 120 }, () => scene.plan({ payTo })))
    const outcomes = await sending.settleTogether(plans)
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const shares = (await listRecorded(sending.signers)).map(({ payments }) => payments)
    expect(shares.toSorted()).toEqual([20, 50, 50])
    expect(await scene.chain.balanceOf(payTo)).toBe(1_200_000n)
  })

  it('cost at most 52k gas each in a batch of fifty to a known recipient', async () => {
    const sending = await open()
    const payTo = createEoa().address
    await scene.chain.mint(payTo, 1n)
    const outcomes = await sending.settleTogether(
      await Promise.all(Array.from({ length: 50 }, () => scene.plan({ payTo }))),
    )
    const [first] = outcomes
    if (first?.state !== 'confirmed') throw new Error('It did not settle')
    const receipt = await scene.chain.client.getTransactionReceipt({
      hash: `0x${first.transaction.slice(2)}`,
    })
    expect(Number(receipt.gasUsed) / 50).toBeLessThanOrEqual(52_000)
  })
})

describe('one payment of a batch', () => {
  /** Nine good payments and a bad one, which is spoiled while all wait; answers what the bad one is told. */
  const settleWithSpoiled = async (
    bad: PlannedPayment,
    spoil: () => Promise<void>,
    options?: SendingOptions,
  ) => {
    const sending = await open(options)
    const good = await planMany(9)
    sending.shut()
    const settling = [...good.slice(0, 4), bad, ...good.slice(4)].map((plan) => sending.settle(plan))
    await sending.whenWaiting(10)
    await spoil()
    sending.open()
    const outcomes = await Promise.all(settling)
    const [told] = outcomes.splice(4, 1)
    expect(states(outcomes)).toEqual(good.map(() => 'confirmed'))
    for (const { payTo } of good) expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    return { told, outcomes, sending }
  }

  it('whose payer swept its balance is told insufficient_funds', async () => {
    const bad = await scene.plan()
    const { told, outcomes, sending } = await settleWithSpoiled(bad, () => sweep(bad))
    expect(told).toEqual({ state: 'failed', reason: 'insufficient_funds' })
    expect(countTransactions(outcomes)).toBe(1)
    // Whoever fails in the rehearsal is not sent at all.
    expect((await listRecorded(sending.signers)).map(({ payments }) => payments)).toEqual([9])
  })

  it('that the payer cancelled is told nonce_already_used', async () => {
    const wallet = createEoa()
    const bad = await scene.plan({ wallet })
    const { told } = await settleWithSpoiled(bad, () => cancelAuthorization(bad, wallet))
    expect(told).toEqual({ state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' })
  })

  it('that a stranger executed meanwhile is told nonce_already_used', async () => {
    const bad = await scene.plan()
    const { told } = await settleWithSpoiled(bad, () => sendAsStranger(encodeTransfer(bad.body)))
    expect(told).toEqual({ state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' })
    expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
  })

  it('whose payer is on the blacklist is told account_blocked', async () => {
    const bad = await scene.plan()
    const { told } = await settleWithSpoiled(bad, () => scene.chain.setBlacklisted(bad.payer, true))
    expect(told).toEqual({ state: 'failed', reason: 'account_blocked' })
  })

  it('whose payer is delegated to code that burns all gas goes alone and is told so', async () => {
    const bad = await scene.plan()
    const { told, outcomes } = await settleWithSpoiled(bad, () =>
      scene.chain.control.setCode(bad.payer, endlessLoop),
    )
    expect(told).toEqual({ state: 'failed', reason: 'invalid_exact_evm_payload_signature' })
    expect(countTransactions(outcomes)).toBe(1)
  })

  it('whose payer is delegated to code that checks signatures goes alone, and settles', async () => {
    const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: true })
    const bad = await scene.plan({ wallet })
    const { told, outcomes } = await settleWithSpoiled(bad, async () => undefined)
    expect(told).toMatchObject({ state: 'confirmed' })
    expect(countTransactions(told === undefined ? outcomes : [...outcomes, told])).toBe(2)
  })

  it('fails after the rehearsal, is sent again by itself and settles', async () => {
    const sending = await open()
    const plans = await planMany(5)
    const [bad] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await sweep(bad)
    await scene.chain.control.mine()
    await scene.chain.mint(bad.payer, 10_000n)
    await scene.chain.control.setAutomine(true)
    const outcomes = await settling
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(countTransactions(outcomes)).toBe(2)
    expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
  })

  it('fails after the rehearsal for good, and is told why', async () => {
    const sending = await open()
    const plans = await planMany(5)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await sweep(bad)
    await scene.chain.control.mine()
    expect(states(await settling)).toEqual(['insufficient_funds', ...good.map(() => 'confirmed')])
  })

  it('that a stranger executes after the rehearsal is confirmed with the stranger’s transaction', async () => {
    const sending = await open()
    const plans = await planMany(4)
    const [bad] = plans
    if (bad === undefined) throw new Error('There is no payment')
    const stranger = await createSigner(scene)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    // A higher tip goes first.
    const call = encodeTransfer(bad.body)
    const bytes = await stranger.account.signTransaction({
      chainId: scene.chain.chainId,
      nonce: 0,
      ...call,
      gas: 200_000n,
      maxFeePerGas: 50_000_000_000n,
      maxPriorityFeePerGas: 40_000_000_000n,
    })
    const transaction = await callRpc(scene.chain.url, 'eth_sendRawTransaction', [bytes])
    await scene.chain.control.mine()
    const outcomes = await settling
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(outcomes[0]).toMatchObject({ transaction })
    expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
  })

  /** Its share of a batch has failed on chain, and the question whether it can go alone is under way. */
  const holdSecondAttempt = async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(3)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await sweep(bad)
    const asked = proxy.count('eth_estimateGas')
    proxy.setFault('eth_estimateGas', { kind: 'delay', milliseconds: 1_000 })
    await scene.chain.control.mine()
    await scene.chain.control.setAutomine(true)
    await eventually(() => (proxy.count('eth_estimateGas') > asked ? true : null))
    await scene.chain.mint(bad.payer, 10_000n)
    return { bad, good, settling }
  }

  it('that a stranger executes before it can go alone is confirmed with the stranger’s transaction', async () => {
    const { bad, good, settling } = await holdSecondAttempt()
    await sendAsStranger(encodeTransfer(bad.body))
    const outcomes = await settling
    expect(states(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
    expect(countTransactions(outcomes)).toBe(2)
    expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
  })

  it('that cannot be recorded once more is pending, not failed: perhaps only the answer was lost', async () => {
    const { good, settling } = await holdSecondAttempt()
    await refuseRecords()
    try {
      expect(states(await settling)).toEqual(['pending', ...good.map(() => 'confirmed')])
    } finally {
      await scene.database.pool().query('drop function refuse cascade')
    }
  })

  it('whose payer gets code after the rehearsal that burns all gas costs the others one more transaction', async () => {
    const sending = await open()
    const plans = await planMany(6)
    const [bad, ...good] = plans
    if (bad === undefined) throw new Error('There is no payment')
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await scene.chain.control.setCode(bad.payer, endlessLoop)
    await scene.chain.control.mine()
    const batch = await scene.chain.client.getBlock({ includeTransactions: true })
    const [spoiled] = batch.transactions
    await scene.chain.control.setAutomine(true)
    const outcomes = await settling
    expect(states(outcomes.slice(1))).toEqual(good.map(() => 'confirmed'))
    expect(outcomes[0]).toMatchObject({ state: 'failed' })
    for (const { payTo } of good) expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    expect(spoiled?.to?.toLowerCase()).toBe(multicall3Address.toLowerCase())
  })

  it('in a batch that runs out of gas as a whole is settled by a transaction of its own', async () => {
    const token = await deployTestToken(scene.chain, 'GasBurnerToken', [0n])
    const sending = await open({
      environment: { [`EVM_TOKENS_${scene.chain.chainId}`]: `${token.address}:Test Token:1` },
    })
    const plans = await Promise.all(
      Array.from({ length: 4 }, () => planPayment(scene.chain, { ...token, mint: token.mint })),
    )
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await scene.chain.control.dropAllTransactions()
    const [recorded] = await listRecorded(sending.signers)
    if (recorded === undefined) throw new Error('Nothing was recorded')
    expect(recorded.payments).toBe(4)
    await scene.chain.control.setAutomine(true)
    // Each transfer now costs more than the whole batch was estimated at.
    await token.write('setGasToBurn', [250_000n])
    await callRpc(scene.chain.url, 'eth_sendRawTransaction', [recorded.bytes])
    const outcomes = await settling
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const after = await listRecorded(sending.signers)
    expect(after.map(({ payments }) => payments)).toEqual([4, 1, 1, 1, 1])
    for (const { payTo } of plans) expect(await token.balanceOf(payTo)).toBe(10_000n)
  })

  it('whose token is paused after the rehearsal is told token_paused, as are all others', async () => {
    const sending = await open()
    const plans = await planMany(3)
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    await scene.chain.setPaused(true)
    await scene.chain.control.mine()
    expect(states(await settling)).toEqual(plans.map(() => 'token_paused'))
    await scene.chain.setPaused(false)
    for (const plan of plans) {
      await scene.chain.control.setAutomine(true)
      expect(await sending.settle(plan)).toMatchObject({ state: 'confirmed' })
    }
  })
})

describe('two payments of one payer', () => {
  it('with money for one: exactly one succeeds and the other has insufficient_funds', async () => {
    const sending = await open()
    const wallet = createEoa()
    const one = await scene.plan({ wallet })
    const other = await scene.plan({ wallet, balance: 0n })
    const good = await planMany(3)
    const outcomes = await sending.settleTogether([one, other, ...good])
    expect(states(outcomes).slice(0, 2).sort()).toEqual(['confirmed', 'insufficient_funds'])
    expect(states(outcomes.slice(2))).toEqual(good.map(() => 'confirmed'))
    const sums = [await scene.chain.balanceOf(one.payTo), await scene.chain.balanceOf(other.payTo)]
    expect(sums.sort()).toEqual([0n, 10_000n])
  })

  it('to the same recipient and of the same value, of which one fails on chain: only that one is not told success', async () => {
    const sending = await open()
    const wallet = createEoa()
    const payTo = createEoa().address
    const plans = [
      await scene.plan({ wallet, payTo }),
      await scene.plan({ wallet, payTo }),
      await scene.plan(),
    ]
    await scene.chain.control.setAutomine(false)
    const settling = sending.settleTogether(plans)
    await whenInPool(1)
    // Money for one of the two is gone.
    await scene.chain.mint(wallet.address, -10_000n)
    await scene.chain.control.mine()
    const outcomes = await settling
    expect(states(outcomes).slice(0, 2).sort()).toEqual(['confirmed', 'insufficient_funds'])
    expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
  })

  it('with money for both succeed together', async () => {
    const sending = await open()
    const wallet = createEoa()
    const payTo = createEoa().address
    const plans = [await scene.plan({ wallet, payTo }), await scene.plan({ wallet, payTo })]
    const outcomes = await sending.settleTogether(plans)
    expect(states(outcomes)).toEqual(['confirmed', 'confirmed'])
    expect(countTransactions(outcomes)).toBe(1)
    expect(await scene.chain.balanceOf(payTo)).toBe(20_000n)
  })
})

describe('what cannot be batched goes alone', () => {
  it.each<[string, () => Promise<PlannedPayment>, SendingOptions]>([
    [
      'a contract wallet',
      async () => {
        const safe = await createSafeWallet(scene.chain)
        return scene.plan({ wallet: await deployWallet(scene.chain, safe) })
      },
      {},
    ],
    [
      'a counterfactual wallet',
      async () => scene.plan({ wallet: await createSafeWallet(scene.chain) }),
      { environment: { DEPLOY_ERC4337_WITH_EIP6492: 'true' } },
    ],
    [
      'a token that is not listed',
      async () => {
        const token = await deployTestToken(scene.chain, 'UsedNonceSilentToken')
        return planPayment(scene.chain, { ...token, mint: token.mint })
      },
      { environment: { EVM_TOKENS_84532: '*' } },
    ],
  ])('%s', async (_what, plan, options) => {
    const sending = await open(options)
    const special = await plan()
    const good = await planMany(4)
    const outcomes = await sending.settleTogether([special, ...good])
    expect(states(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
    const recorded = await listRecorded(sending.signers)
    expect(recorded.map(({ payments }) => payments).sort()).toEqual([1, 4])
    expect(recorded.filter(({ bytes }) => isBatch(bytes)).map(({ payments }) => payments)).toEqual([4])
  })

  it('everything, on a chain without Multicall3', async () => {
    const code = await scene.chain.client.getCode({ address: multicall3Address })
    await scene.chain.control.setCode(multicall3Address, '0x')
    try {
      const sending = await open()
      const plans = await planMany(4)
      const outcomes = await sending.settleTogether(plans)
      expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
      expect((await listRecorded(sending.signers)).map(({ payments }) => payments)).toEqual([1, 1, 1, 1])
    } finally {
      await scene.chain.control.setCode(multicall3Address, code ?? '0x')
    }
  })
})

describe('gas', () => {
  it('of more than eight million is split over several transactions', async () => {
    const token = await deployTestToken(scene.chain, 'GasBurnerToken', [250_000n])
    const sending = await open({
      environment: { [`EVM_TOKENS_${scene.chain.chainId}`]: `${token.address}:Test Token:1` },
    })
    const wallet = createEoa()
    await token.mint(wallet.address, 400_000n)
    const funded = { ...token, mint: async () => undefined }
    const plans = await Promise.all(
      Array.from({ length: 40 }, () => planPayment(scene.chain, funded, { wallet })),
    )
    const outcomes = await sending.settleTogether(plans)
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    const recorded = await listRecorded(sending.signers)
    expect(recorded.length).toBeGreaterThan(1)
    expect(recorded.length).toBeLessThan(8)
    expect(recorded.reduce((sum, { payments }) => sum + payments, 0)).toBe(40)
    for (const { bytes } of recorded) {
      expect(parseTransaction(`0x${bytes.slice(2)}`).gas).toBeLessThanOrEqual(8_000_000n)
    }
  })

  it('beyond the hourly budget is not spent: nobody is settled and nobody is told failed', async () => {
    const sending = await open({
      environment: { [`EVM_GAS_BUDGET_GWEI_PER_HOUR_${scene.chain.chainId}`]: '1' },
    })
    const plans = await planMany(3)
    await expect(sending.settleTogether(plans)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(await listRecorded(sending.signers)).toEqual([])
  })

  it.each([
    ['what the node estimates', -5n],
    // The node would refuse the bytes although the estimate passed.
    ['what the transaction may use at most', 5n],
  ])('of which the account cannot pay %s is spent in smaller transactions', async (_what, percent) => {
    const rich = await open()
    await rich.settleTogether(await planMany(30))
    const [whole] = (await listRecorded(rich.signers)).map(({ bytes }) =>
      parseTransaction(`0x${bytes.slice(2)}`),
    )
    // The limit is the estimate, a tenth more, and a reserve.
    const estimate = (((whole?.gas ?? 0n) - 115_000n) * 10n) / 11n

    const poor = await createSigner(scene)
    const sending = await open({ signers: [poor] })
    const { baseFeePerGas } = await scene.chain.client.getBlock()
    const tip = BigInt(String(await callRpc(scene.chain.url, 'eth_maxPriorityFeePerGas')))
    const price = (baseFeePerGas ?? 0n) * 2n + tip
    await scene.chain.fundGas(poor.address, ((estimate * (100n + percent)) / 100n) * price)
    const outcomes = sending.settleTogether(await planMany(30))
    await eventually(async () => ((await listRecorded([poor])).length === 2 ? true : null))
    expect((await listRecorded([poor])).map(({ payments }) => payments)).toEqual([15, 15])
    await scene.chain.fundGas(poor.address)
    // Whichever was refused for want of money is sent again.
    await sending.maintenance.check()
    await sending.maintenance.check()
    expect(new Set(states(await outcomes))).toEqual(new Set(['confirmed']))
  })
})

describe('the record of a batch', () => {
  it('is there for every payment before the bytes leave, in one commit', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(6)
    proxy.setFault('eth_sendRawTransaction', { kind: 'hang' })
    sending.shut()
    const waitUntil = AbortSignal.timeout(3_000)
    const settling = Promise.all(plans.map((plan) => sending.settle(plan, { waitUntil })))
    await sending.whenWaiting(6)
    sending.open()
    await eventually(() => (proxy.count('eth_sendRawTransaction') > 0 ? true : null))
    const { rows } = await scene.database.pool().query(
      `select s.state, s.transaction, s.xmin::text as written, b.xmin::text as stored from settlements s
       join broadcasts b on b.transaction = s.transaction where s.payer = any($1)`,
      [plans.map(({ payer }) => payer)],
    )
    expect(rows).toHaveLength(6)
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['pending']))
    expect(new Set(rows.flatMap(({ written, stored }) => [written, stored])).size).toBe(1)
    proxy.clearFaults()
    await settling
  })

  it('that no node ever got is closed by the reconciler, payment by payment', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(5)
    proxy.setFault('eth_sendRawTransaction', { kind: 'refuse' })
    sending.shut()
    const ids: string[] = []
    const waitUntil = AbortSignal.timeout(1_500)
    const settling = plans.map((plan) => sending.settle(plan, { waitUntil, onClaim: (id) => ids.push(id) }))
    await sending.whenWaiting(5)
    sending.open()
    expect(states(await Promise.all(settling))).toEqual(plans.map(() => 'pending'))
    for (const { payTo } of plans) expect(await scene.chain.balanceOf(payTo)).toBe(0n)

    // Another process: it has nothing but the journal.
    const next = await open()
    for (const _round of [1, 2]) {
      for (const id of ids) {
        const settlement = await next.journal.find(id)
        if (settlement === null || settlement.state !== 'pending') continue
        const outcome = await next.scheme.resolve(settlement, AbortSignal.timeout(5_000))
        if (outcome.state !== 'pending') await next.journal.close(id, outcome)
      }
    }
    for (const [index, id] of ids.entries()) {
      expect(await next.journal.find(id)).toMatchObject({ state: 'confirmed' })
      expect(await scene.chain.balanceOf(plans[index]?.payTo ?? '0x')).toBe(10_000n)
    }
  })

  it('leaves out a payment that another instance took over, and the others go', async () => {
    const sending = await open()
    const plans = await planMany(5)
    sending.shut()
    const ids: string[] = []
    const settling = plans.map((plan) => sending.settle(plan, { onClaim: (id) => ids.push(id) }))
    await sending.whenWaiting(5)
    const other = await open()
    const taken = ids[2] ?? ''
    await killInstance(scene.database.pool(), sending.instance)
    expect(await other.journal.abandon(taken)).toBe(true)
    await scene.database
      .pool()
      .query('update instances set seen_at = now() where id = $1', [sending.instance.id])
    sending.open()
    const settled = await Promise.allSettled(settling)
    const lost = plans.findIndex((_, index) => settled[index]?.status === 'rejected')
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect((await listRecorded(sending.signers)).map(({ payments, nonce }) => [nonce, payments])).toEqual([
      [0, 4],
    ])
    for (const [index, { payTo }] of plans.entries()) {
      expect(await scene.chain.balanceOf(payTo)).toBe(index === lost ? 0n : 10_000n)
    }
    expect(await sending.journal.find(taken)).toMatchObject({ state: 'failed', broadcasts: [] })
  })

  it('that the database refuses fails nobody for good and sends nothing', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    const plans = await planMany(4)
    await refuseRecords()
    try {
      sending.shut()
      const settling = Promise.allSettled(plans.map((plan) => sending.settle(plan)))
      await sending.whenWaiting(4)
      sending.open()
      expect((await settling).map(({ status }) => status)).toEqual(plans.map(() => 'rejected'))
    } finally {
      await scene.database.pool().query('drop function refuse cascade')
    }
    expect(proxy.count('eth_sendRawTransaction')).toBe(0)
    expect(await listRecorded(sending.signers)).toEqual([])
    await scene.database
      .pool()
      .query(
        "update settlements set state = 'failed', reason = 'settlement_abandoned', closed_at = now() where state = 'claimed'",
      )
    expect(states(await sending.settleTogether(plans))).toEqual(plans.map(() => 'confirmed'))
    expect((await listRecorded(sending.signers)).map(({ nonce }) => nonce)).toEqual([0])
  })
})

describe('the number of questions', () => {
  it('of one payment alone is at most six', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    await sending.settle(await scene.plan())
    const plan = await scene.plan()
    proxy.clearCalls()
    expect(await sending.settle(plan)).toMatchObject({ state: 'confirmed' })
    expect(proxy.calls.map(({ method }) => method)).toHaveLength(proxy.calls.length)
    expect(proxy.calls.length).toBeLessThanOrEqual(6)
  })

  it('of a batch of fifty is at most sixty, of which fifty ask for code in one request', async () => {
    const proxy = await scene.openProxy()
    const sending = await open({ url: proxy.url })
    await sending.settleTogether(await planMany(2))
    const plans = await planMany(50)
    proxy.clearCalls()
    const outcomes = await sending.settleTogether(plans)
    expect(states(outcomes)).toEqual(plans.map(() => 'confirmed'))
    expect(countTransactions(outcomes)).toBe(1)
    expect(proxy.count('eth_getCode')).toBe(50)
    expect(proxy.calls.length).toBeLessThanOrEqual(60)
    expect(proxy.requestCount).toBeLessThanOrEqual(10)
  })
})
