import type { Address } from '@ton/core'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { RuleName } from '../../../protocol/rules/ruleNames.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { readAddress } from '../encoding/cells.js'
import { listOtherGlobalIds } from '../networks.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from '../settings.js'
import type { JettonRegistry } from '../tokens/jettons.js'
import { findWallet } from '../wallets/walletState.js'
import { findFailedCheck, messageRules } from './checks.js'
import { type DecodedPayment, decodePayment, readClaimedPayer, readExactProof } from './decode.js'
import { findFailedStateCheck, walletStateRules } from './stateChecks.js'

/** Breaks no rule in the current chain state. */
export interface Prepared {
  readonly decoded: DecodedPayment
  readonly payer: Address
  readonly asset: Address
  /** Whether the payer's wallet is deployed. */
  readonly isDeployed: boolean
}

type Preparation = { readonly prepared: Prepared } | { readonly refused: Refusal }

interface PrepareOptions {
  /** Minimum remaining validity of the message. */
  readonly marginSeconds: number
  /** Called before any chain access; may throw to prevent it. */
  readonly beforeAsking?: () => void
  readonly trace?: Trace | undefined
}

/** Structure, rules, wallet, signature, seqno, balances. */
type Prepare = (payment: Payment, options: PrepareOptions) => Promise<Preparation>

export const createPrepare = (dependencies: {
  readonly family: Pick<TonSettings, 'relayLimits'>
  readonly network: Pick<TonNetworkSettings, 'globalId'>
  readonly rpc: Rpc
  readonly jettons: JettonRegistry
  readonly relays: readonly Address[]
  readonly clock: Clock
}): Prepare => {
  const { family, network, rpc, jettons, relays, clock } = dependencies
  const otherGlobalIds = listOtherGlobalIds(network)

  /** Rules that depend on chain state; null when all hold. */
  const findObstacle = async (
    decoded: DecodedPayment,
    asset: Address,
    trace: Trace | undefined,
  ): Promise<{ readonly reason: Reason } | { readonly isDeployed: boolean }> => {
    const payer = decoded.message.wallet
    const [account, jettonWallet] = await Promise.all([
      rpc.readAccount(payer),
      jettons.findWallet(asset, payer),
    ])
    const finding = findWallet(account, decoded.message)
    if ('refusedAs' in finding) {
      trace?.note('wallet', finding.refusedAs)
      return { reason: finding.refusedAs }
    }
    trace?.note('wallet', null)
    const { wallet } = finding
    const candidate = { decoded, wallet, account, jettonWallet, otherGlobalIds }
    const broken = findFailedStateCheck(candidate, trace)
    // With a trace the balance is judged as well.
    if (broken !== null && trace === undefined) return { reason: broken }
    const balance = jettonWallet === null ? 0n : await jettons.readBalance(jettonWallet)
    const isPoor = balance < decoded.transfer.amount
    trace?.note('balance', isPoor ? 'insufficient_jetton_balance' : null, {
      found: balance,
      expected: `at least ${decoded.transfer.amount}`,
    })
    trace?.addFact('payer_balance', `${balance}`)
    if (broken !== null) return { reason: broken }
    if (isPoor) return { reason: 'insufficient_jetton_balance' }
    return { isDeployed: wallet.isDeployed }
  }

  return async (payment, { marginSeconds, beforeAsking, trace }) => {
    const reading = readPayment(payment, jettons.isOffered, trace)
    trace?.expect(stateRules)
    if ('refused' in reading) return reading
    const { decoded, asset } = reading
    const payer = decoded.message.wallet

    const nowSeconds = Math.floor(clock.now().getTime() / 1_000)
    const broken = findFailedCheck(
      {
        decoded,
        payment,
        asset,
        nowSeconds,
        marginSeconds,
        relays,
        relayLimits: family.relayLimits,
      },
      trace,
    )
    if (broken !== null && trace === undefined) return toRefusal(payer, broken)
    beforeAsking?.()
    if (broken !== null) {
      await findObstacle(decoded, asset, trace).catch(() => {
        for (const name of stateRules) trace?.miss(name)
      })
      return toRefusal(payer, broken)
    }
    const answer = await findObstacle(decoded, asset, trace)
    if ('reason' in answer) return toRefusal(payer, answer.reason)
    return { prepared: { decoded, payer, asset, isDeployed: answer.isDeployed } }
  }
}

type PaymentReading =
  | { readonly decoded: DecodedPayment; readonly asset: Address }
  | { readonly refused: Refusal }

const stateRules = ['wallet', ...walletStateRules, 'balance'] as const

/** Structure, and whether the asset is offered. */
export const readPayment = (
  payment: Payment,
  isOffered: (master: Address) => boolean,
  trace?: Trace,
): PaymentReading => {
  trace?.expect(readingRules)
  const refuse = (name: RuleName, ...refusal: Parameters<typeof toRefusal>) => {
    const [, reason, message] = refusal
    trace?.note(name, message === undefined ? reason : { reason, message })
    return toRefusal(...refusal)
  }
  const reading = readExactProof(payment.proof)
  const claimed = readClaimedPayer(payment.proof)
  const foreign = describeForeignMethod(payment, ownMethod)
  if (foreign !== null) {
    return refuse('transfer_method', claimed, 'unsupported_asset_transfer_method', foreign)
  }
  trace?.note('transfer_method', null)
  if ('problem' in reading) {
    return refuse('payload_fields', claimed, 'invalid_payload_structure', reading.problem)
  }
  trace?.note('payload_fields', null)
  const decoding = decodePayment(reading.proof)
  if ('refusedAs' in decoding) return refuse('encoding', decoding.wallet ?? claimed, decoding.refusedAs)
  trace?.note('encoding', null)
  const { decoded } = decoding
  const asset = readAddress(payment.requirements.asset)
  if (asset === null || !isOffered(asset)) {
    return refuse('asset', decoded.message.wallet, 'unsupported_asset')
  }
  trace?.note('asset', null)
  return { decoded, asset }
}

const readingRules = ['transfer_method', 'payload_fields', 'encoding', 'asset', ...messageRules] as const

const ownMethod = { names: ['default'], fields: ['signedBoc', 'settlementBoc'] } as const

export const toRefusal = (payer: Address | null, reason: Reason, message?: string) => ({
  refused: {
    isValid: false,
    payer: payer?.toRawString() ?? null,
    reason,
    ...(message === undefined ? {} : { message }),
  } satisfies Refusal,
})
