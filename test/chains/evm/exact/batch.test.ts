import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { formatAuthorizationId } from '../../../../src/chains/evm/tokens/authorizations.js'
import { callRpc } from '../../../support/evm/jsonRpc.js'
import { setBatchSettler } from '../../../support/evm/localChain.js'
import { deployTestToken } from '../../../support/evm/testTokens.js'
import { encodeTransfer } from '../../../support/evm/transfer.js'
import {
  createDelegatedEoa,
  createEoa,
  createSafeWallet,
  deployWallet,
} from '../../../support/evm/wallets.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import type { RpcProxy } from '../../../support/rpcProxy.js'
import { standingClock } from '../../../support/shiftedClock.js'
import { useScene } from '../../../support/useScene.js'
import { batchKinds, isSharedByAny } from '../batchContracts.js'
import { countTransactions, endlessLoop, listRecorded, statesOf, whenInPool } from '../batches.js'
import { createSigner, type EngineOptions } from '../engineScene.js'
import { openScene, type PlannedPayment, planPayment, quickFinality } from '../scene.js'
import { cancelAuthorization, sendAsStranger } from '../strangers.js'
import { type ExactSending, openSending } from './sendingScene.js'

/* EIP-3009 payments in one transaction: reasons, wallets, and evidence from the token's events. */

const scene = useScene(openScene)
const opened: ExactSending[] = []

afterEach(async () => {
  for (const sending of opened.splice(0)) await sending.close()
  await scene.chain.setPaused(false)
})

const open = async (options?: EngineOptions): Promise<ExactSending> => {
  const sending = await openSending(scene, options)
  opened.push(sending)
  return sending
}

const planMany = (count: number): Promise<readonly PlannedPayment[]> =>
  Promise.all(Array.from({ length: count }, () => scene.plan()))

/** Removes a payer's balance. */
const sweep = ({ payer, body }: PlannedPayment): Promise<void> =>
  scene.chain.mint(payer, -BigInt(body.paymentRequirements.amount))

/** Closes the row of a payment that is pending, one block later. */
const closeOneBlockLater = async ({ scheme, journal }: ExactSending, { body }: PlannedPayment) => {
  await scene.chain.control.mine()
  const { from, nonce } = body.paymentPayload.payload.authorization
  const { network, token } = scene.chain
  const id = formatAuthorizationId({ network, asset: token.verifyingContract, from, nonce })
  const row = await journal.findOpen(id)
  if (row === null) throw new Error('There is no open row')
  const outcome = await scheme.resolve(row, AbortSignal.timeout(waitLimitMs))
  if (outcome.state !== 'pending') await journal.close(row.id, outcome)
  return outcome
}

describe.each(batchKinds)('through $name', ({ address, hasBatchSettler, gasOfFifty }) => {
  beforeAll(() => setBatchSettler(scene.chain.url, hasBatchSettler))

  describe('payments that wait together', () => {
    it('settle in one transaction, each with success and the exact amount', async () => {
      const sending = await open()
      const plans = await planMany(20)
      const outcomes = await sending.settleTogether(plans)
      expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
      expect(countTransactions(outcomes)).toBe(1)
      for (const { payTo, payer } of plans) {
        expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
        expect(await scene.chain.balanceOf(payer)).toBe(0n)
      }
      const [recorded, ...others] = await listRecorded(scene, sending.signers)
      expect(others).toEqual([])
      expect(recorded?.payments).toBe(20)
    })

    it(`cost at most ${gasOfFifty / 1_000}k gas each in a batch of fifty to a known recipient`, async () => {
      const sending = await open()
      const payTo = createEoa().address
      await scene.chain.mint(payTo, 1n)
      const outcomes = await sending.settleTogether(
        await Promise.all(
          // A payer with a rest: an emptied balance is refunded.
          Array.from({ length: 50 }, () => scene.plan({ payTo, balance: 20_000n })),
        ),
      )
      const [first] = outcomes
      if (first?.state !== 'confirmed') throw new Error('It did not settle')
      const receipt = await scene.chain.client.getTransactionReceipt({
        hash: `0x${first.transaction.slice(2)}`,
      })
      expect(Number(receipt.gasUsed) / 50).toBeLessThanOrEqual(gasOfFifty)
    })
  })

  describe('one payment of a batch', () => {
    /** Nine valid payments and one that `change` makes fail while all wait; returns its outcome separately. */
    const settleWithFailing = async (
      bad: PlannedPayment,
      change: () => Promise<unknown>,
      options?: EngineOptions,
    ) => {
      const sending = await open(options)
      const good = await planMany(9)
      sending.shut()
      const settling = [...good.slice(0, 4), bad, ...good.slice(4)].map((plan) => sending.settle(plan))
      await sending.whenWaiting(10)
      await change()
      sending.open()
      const outcomes = await Promise.all(settling)
      const [own] = outcomes.splice(4, 1)
      expect(statesOf(outcomes)).toEqual(good.map(() => 'confirmed'))
      for (const { payTo } of good) expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
      return { own, outcomes, sending }
    }

    it('whose payer moved its balance fails with insufficient_funds', async () => {
      const bad = await scene.plan()
      const { own, outcomes, sending } = await settleWithFailing(bad, () => sweep(bad))
      expect(own).toEqual({ state: 'failed', reason: 'insufficient_funds' })
      expect(countTransactions(outcomes)).toBe(1)
      // A call that fails in the simulation is not sent.
      expect((await listRecorded(scene, sending.signers)).map(({ payments }) => payments)).toEqual([9])
    })

    it('that the payer cancelled fails with nonce_already_used', async () => {
      const wallet = createEoa()
      const bad = await scene.plan({ wallet })
      const { own } = await settleWithFailing(bad, () =>
        cancelAuthorization(scene, wallet, bad.body.paymentPayload.payload.authorization.nonce),
      )
      expect(own).toEqual({ state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' })
    })

    it('that another account executed meanwhile fails with nonce_already_used', async () => {
      const bad = await scene.plan()
      const { own } = await settleWithFailing(bad, () => sendAsStranger(scene, encodeTransfer(bad.body)))
      expect(own).toEqual({ state: 'failed', reason: 'invalid_exact_evm_nonce_already_used' })
      expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
    })

    it('whose payer is blacklisted fails with account_blocked', async () => {
      const bad = await scene.plan()
      const { own } = await settleWithFailing(bad, () => scene.chain.setBlacklisted(bad.payer, true))
      expect(own).toEqual({ state: 'failed', reason: 'account_blocked' })
    })

    it('whose payer delegates to code that burns all gas fails in its own transaction', async () => {
      const bad = await scene.plan()
      const { own, outcomes } = await settleWithFailing(bad, () =>
        scene.chain.control.setCode(bad.payer, endlessLoop),
      )
      expect(own).toEqual({ state: 'failed', reason: 'invalid_exact_evm_payload_signature' })
      expect(countTransactions(outcomes)).toBe(1)
    })

    it('whose payer delegates to code that checks signatures settles in its own transaction', async () => {
      const wallet = await createDelegatedEoa(scene.chain, { checksSignatures: true })
      const bad = await scene.plan({ wallet })
      const { own, outcomes } = await settleWithFailing(bad, async () => undefined)
      expect(own).toMatchObject({ state: 'confirmed' })
      expect(countTransactions(own === undefined ? outcomes : [...outcomes, own])).toBe(2)
    })

    it('whose payer has code is found by a node that takes no call without a recipient', async () => {
      const proxy = await scene.openProxy()
      proxy.setFault('eth_call', {
        kind: 'errorFor',
        findError: ([call]) => (Object(call).to === undefined ? 'missing value for required field to' : null),
      })
      const bad = await scene.plan()
      const { own, outcomes } = await settleWithFailing(
        bad,
        () => scene.chain.control.setCode(bad.payer, endlessLoop),
        { url: proxy.url },
      )
      expect(own).toEqual({ state: 'failed', reason: 'invalid_exact_evm_payload_signature' })
      expect(countTransactions(outcomes)).toBe(1)
      expect(proxy.count('eth_getCode')).toBeGreaterThanOrEqual(10)
    })

    it('that another account executes after the simulation is confirmed with that transaction', async () => {
      const sending = await open()
      const plans = await planMany(4)
      const [bad] = plans
      if (bad === undefined) throw new Error('There is no payment')
      const stranger = await createSigner(scene)
      await scene.chain.control.setAutomine(false)
      const settling = sending.settleTogether(plans)
      await whenInPool(scene, 1)
      // A higher tip is mined first.
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
      expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
      expect(outcomes[0]).toMatchObject({ transaction })
      expect(await scene.chain.balanceOf(bad.payTo)).toBe(10_000n)
    })

    it('whose payer gets gas-burning code after the simulation costs the others one additional transaction', async () => {
      const sending = await open({ environment: quickFinality(scene) })
      const plans = await planMany(6)
      const [bad, ...good] = plans
      if (bad === undefined) throw new Error('There is no payment')
      await scene.chain.control.setAutomine(false)
      const settling = sending.settleTogether(plans)
      await whenInPool(scene, 1)
      await scene.chain.control.setCode(bad.payer, endlessLoop)
      await scene.chain.control.mine()
      const batch = await scene.chain.client.getBlock({ includeTransactions: true })
      const [shared] = batch.transactions
      // BatchSettler bounds the gas of each payment: the others are paid in the batch itself.
      if (!hasBatchSettler) {
        await whenInPool(scene, good.length)
        await scene.chain.control.mine()
      }
      await scene.chain.control.setAutomine(true)
      const outcomes = await settling
      expect(statesOf(outcomes.slice(1))).toEqual(good.map(() => 'confirmed'))
      expect(outcomes[0]).toMatchObject({ state: 'pending' })
      expect(await closeOneBlockLater(sending, bad)).toMatchObject({ state: 'failed' })
      for (const { payTo } of good) expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
      expect(shared?.to?.toLowerCase()).toBe(address.toLowerCase())
    })

    it('in a batch that runs out of gas as a whole settles in its own transaction', async () => {
      const token = await deployTestToken(scene.chain, 'GasBurnerToken', [0n])
      const sending = await open({
        environment: { [`EVM_TOKENS_${scene.chain.chainId}`]: `${token.address}:Test Token:1` },
      })
      const plans = await Promise.all(
        Array.from({ length: 4 }, () => planPayment(scene.chain, { ...token, mint: token.mint })),
      )
      await scene.chain.control.setAutomine(false)
      const settling = sending.settleTogether(plans)
      await whenInPool(scene, 1)
      await scene.chain.control.dropAllTransactions()
      const [recorded] = await listRecorded(scene, sending.signers)
      if (recorded === undefined) throw new Error('Nothing was recorded')
      expect(recorded.payments).toBe(4)
      await scene.chain.control.setAutomine(true)
      // Each transfer now costs more than the estimate of the whole batch.
      await token.write('setGasToBurn', [250_000n])
      await callRpc(scene.chain.url, 'eth_sendRawTransaction', [recorded.bytes])
      const outcomes = await settling
      expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
      const after = await listRecorded(scene, sending.signers)
      expect(after.map(({ payments }) => payments)).toEqual([4, 1, 1, 1, 1])
      for (const { payTo } of plans) expect(await token.balanceOf(payTo)).toBe(10_000n)
    })

    it('whose token is paused after the simulation is pending, as are all others, and fails when that is final', async () => {
      const sending = await open({ environment: quickFinality(scene) })
      const plans = await planMany(3)
      await scene.chain.control.setAutomine(false)
      const settling = sending.settleTogether(plans)
      await whenInPool(scene, 1)
      await scene.chain.setPaused(true)
      await scene.chain.control.mine()
      expect(statesOf(await settling)).toEqual(plans.map(() => 'pending'))
      await scene.chain.setPaused(false)
      for (const plan of plans) {
        expect(await closeOneBlockLater(sending, plan)).toMatchObject({
          state: 'failed',
          reason: 'invalid_exact_evm_transaction_failed',
        })
        await scene.chain.control.setAutomine(true)
        expect(await sending.settle(plan)).toMatchObject({ state: 'confirmed' })
      }
    })
  })

  describe('two payments of one payer', () => {
    it('to the same recipient with the same value, of which one fails on chain: only the other is confirmed', async () => {
      const sending = await open({ environment: quickFinality(scene) })
      const wallet = createEoa()
      const payTo = createEoa().address
      const plans = [
        await scene.plan({ wallet, payTo }),
        await scene.plan({ wallet, payTo }),
        await scene.plan(),
      ]
      await scene.chain.control.setAutomine(false)
      const settling = sending.settleTogether(plans)
      await whenInPool(scene, 1)
      // The funds for one of the two are gone.
      await scene.chain.mint(wallet.address, -10_000n)
      await scene.chain.control.mine()
      const outcomes = await settling
      expect(statesOf(outcomes).slice(0, 2).sort()).toEqual(['confirmed', 'pending'])
      const failing = plans[outcomes.findIndex(({ state }) => state === 'pending')]
      if (failing === undefined) throw new Error('None is pending')
      expect(await closeOneBlockLater(sending, failing)).toMatchObject({
        state: 'failed',
        reason: 'invalid_exact_evm_transaction_failed',
      })
      expect(await scene.chain.balanceOf(payTo)).toBe(10_000n)
    })
  })

  describe('what cannot be batched is sent alone', () => {
    it.each<[string, () => Promise<PlannedPayment>, EngineOptions]>([
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
      expect(statesOf(outcomes)).toEqual(['confirmed', ...good.map(() => 'confirmed')])
      const recorded = await listRecorded(scene, sending.signers)
      expect(recorded.map(({ payments }) => payments).sort()).toEqual([1, 4])
      expect(recorded.filter(({ bytes }) => isSharedByAny(bytes)).map(({ payments }) => payments)).toEqual([
        4,
      ])
    })
  })

  describe('the number of RPC calls', () => {
    /** How often a receipt is asked for depends on how fast the machine is; the age of fees does not, by a clock that stands. */
    const countDistinct = ({ calls }: RpcProxy): number =>
      new Set(calls.map(({ method, params }) => JSON.stringify([method, params]))).size

    it('of one payment alone is at most six', async () => {
      const proxy = await scene.openProxy()
      const sending = await open({ url: proxy.url, clock: standingClock() })
      await sending.settle(await scene.plan())
      const plan = await scene.plan()
      proxy.clearCalls()
      expect(await sending.settle(plan)).toMatchObject({ state: 'confirmed' })
      expect(countDistinct(proxy)).toBeLessThanOrEqual(6)
    })

    it('of a batch of fifty is at most eleven, of which one reads the code of all payers', async () => {
      const proxy = await scene.openProxy()
      const sending = await open({ url: proxy.url, clock: standingClock() })
      await sending.settleTogether(await planMany(2))
      const plans = await planMany(50)
      proxy.clearCalls()
      const outcomes = await sending.settleTogether(plans)
      expect(statesOf(outcomes)).toEqual(plans.map(() => 'confirmed'))
      expect(countTransactions(outcomes)).toBe(1)
      expect(proxy.count('eth_getCode')).toBe(0)
      expect(countDistinct(proxy)).toBeLessThanOrEqual(11)
    })
  })
})
