import type { Address, Hex } from 'viem'
import { createEvmMinimum } from '../../../../../src/chains/evm/network.js'
import {
  createUptoPermit2Method,
  type UptoPermit2Dependencies,
} from '../../../../../src/chains/evm/permit2/upto/method.js'
import { createTokenRegistry } from '../../../../../src/chains/evm/tokens/tokenRegistry.js'
import { systemClock } from '../../../../../src/platform/clock.js'
import type { Payment } from '../../../../../src/protocol/payment.js'
import { isRefused, readPayment } from '../../../../../src/protocol/readPayment.js'
import { wirePaymentRequest } from '../../../../../src/protocol/wire.js'
import type { Authorized, Outcome, Scheme, Verification } from '../../../../../src/schemes/scheme.js'
import type { FacilitatorKey, LocalChain } from '../../../../support/evm/localChain.js'
import { setUsdcAllowance } from '../../../../support/evm/permit2.js'
import {
  type UptoPaymentBody,
  type UptoPaymentOptions,
  uptoPayment,
} from '../../../../support/evm/uptoPermit2.js'
import { deployUptoRouter } from '../../../../support/evm/uptoRouter.js'
import { createEoa, type EoaWallet } from '../../../../support/evm/wallets.js'
import { waitLimitMs } from '../../../../support/pollUntil.js'
import { createToyNetwork } from '../../../../support/toyScheme.js'
import { createSigner, type EngineOptions, type OpenEngine, openEngine } from '../../engineScene.js'
import type { Scene } from '../../scene.js'

export interface UptoOptions extends EngineOptions {
  readonly router?: Hex | null
}

/** The scheme on the engine with the scene's journal. */
export interface UptoScene extends OpenEngine {
  readonly scheme: Scheme
  /** As the use cases do it: before a settlement, or before the service is rendered. */
  verify(body: unknown, options?: { readonly isForSettle?: boolean }): Promise<Verification>
  /** Claims, settles and closes the row. */
  settle(body: unknown): Promise<Settled>
  /** Only records: the process dies before it sends. */
  recordOnly(body: unknown): Promise<string>
  /** From the journal row alone, like the reconciler. */
  resolve(settlementId: string): Promise<Outcome>
}

interface Settled {
  readonly outcome: Outcome
  /** Null if it was refused. */
  readonly settlementId: string | null
}

const readBody = (body: unknown): Payment => {
  const payment = readPayment(wirePaymentRequest.parse(body))
  if (isRefused(payment)) throw new Error(`The payment is refused: ${payment.reason}`)
  return payment
}

export const openUpto = async (scene: Scene, options: UptoOptions = {}): Promise<UptoScene> => {
  const { router = null, clock = systemClock } = options
  const signersOfRouter = router === null ? undefined : signersOfRouters.get(router)
  const open = await openEngine(scene, {
    ...(signersOfRouter === undefined ? {} : { signers: signersOfRouter }),
    ...options,
  })
  const { family, network, rpc, engine, journal, signers } = open
  const tokens = createTokenRegistry(network, rpc)
  const facilitators = signers.map(({ address }) => address)
  const create = (own: UptoPermit2Dependencies['engine']) =>
    createUptoPermit2Method({
      family,
      network,
      rpc,
      tokens,
      engine: own,
      clock,
      minimum: createEvmMinimum(network, 0.1),
      facilitators,
      router,
    })
  const scheme: Scheme = {
    ...create(engine),
    kind: { scheme: 'upto', network: network.network },
    network: createToyNetwork({ id: network.network, getBlockStatus: engine.getBlockStatus }),
    journalClaims: null,
    settledState: null,
    describeKind: () => null,
    describeAsset: async () => null,
  }

  const verify: UptoScene['verify'] = (body, { isForSettle = false } = {}) =>
    scheme.verify(readBody(body), { isForSettle, isAwaited: () => true })

  const claim = async (body: unknown, authorized: Authorized): Promise<string> => {
    const { requirements, resource } = readBody(body)
    const { payer, authorizationId, authorizedAmount, amount, expiresAt, details } = authorized
    const row = await journal.claim({
      authorizationId,
      scheme: requirements.scheme,
      network: requirements.network,
      asset: requirements.asset,
      payer,
      payTo: requirements.payTo,
      amount,
      authorizedAmount,
      expiresAt,
      details,
      resource,
      caller: 'anonymous',
      fingerprint: 'f',
    })
    if (row === null) throw new Error('The authorization is used up')
    return row.id
  }

  return {
    ...open,
    scheme,
    verify,
    settle: async (body) => {
      const verification = await verify(body, { isForSettle: true })
      if (!verification.isValid) {
        return { outcome: { state: 'failed', reason: verification.reason }, settlementId: null }
      }
      const id = await claim(body, verification)
      const outcome = await verification.settle(journal.recorderFor(id), {
        waitUntil: AbortSignal.timeout(waitLimitMs),
      })
      if (outcome.state === 'pending') await journal.release(id)
      else if (!(await journal.close(id, outcome))) throw new Error('The row was not closed')
      return { outcome, settlementId: id }
    },
    recordOnly: async (body) => {
      const verification = await verify(body, { isForSettle: true })
      if (!verification.isValid) throw new Error(`It is refused as ${verification.reason}`)
      const id = await claim(body, verification)
      const recorder = journal.recorderFor(id)
      await verification
        .settle(
          {
            ...recorder,
            record: async (signed, write) => {
              await recorder.record(signed, write)
              throw new Error('killed')
            },
          },
          { waitUntil: AbortSignal.timeout(waitLimitMs) },
        )
        .catch(() => undefined)
      await journal.release(id)
      return id
    },
    resolve: async (settlementId) => {
      const row = await journal.find(settlementId)
      if (row === null) throw new Error('There is no row')
      return await scheme.resolve(row, AbortSignal.timeout(waitLimitMs))
    },
  }
}

/** Our router with facilitators of its own, which `openUpto` uses with it. */
export const deployRouter = async (scene: Scene): Promise<Address> => {
  const signers = await Promise.all([createSigner(scene), createSigner(scene)])
  const router = await deployUptoRouter(scene.chain, signers)
  signersOfRouters.set(router, signers)
  return router
}

const signersOfRouters = new Map<Address, readonly FacilitatorKey[]>()

interface PlannedCharge {
  readonly body: UptoPaymentBody
  readonly wallet: EoaWallet
  readonly payer: Address
  readonly payTo: Address
}

interface ChargePlan extends Omit<Partial<UptoPaymentOptions>, 'chain' | 'wallet'> {
  readonly facilitator: Address
  readonly wallet?: EoaWallet
  /** The payer's balance before the payment; default: the maximum. */
  readonly balance?: bigint
  /** What Permit2 may take; default: everything. */
  readonly allowance?: bigint
}

/** In USDC, by a new payer by default, who is funded and has approved Permit2. */
export const planCharge = async (
  chain: LocalChain,
  {
    wallet = createEoa(),
    payTo = createEoa().address,
    balance,
    allowance,
    amount = 10_000n,
    ...rest
  }: ChargePlan,
): Promise<PlannedCharge> => {
  await chain.mint(wallet.address, balance ?? amount)
  await setUsdcAllowance(chain, wallet.address, allowance)
  const body = await uptoPayment({ chain, wallet, payTo, amount, ...rest })
  return { body, wallet, payer: wallet.address, payTo }
}
