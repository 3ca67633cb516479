import type { Address } from '@ton/core'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { readAddress } from '../encoding/cells.js'
import { listOtherGlobalIds } from '../networks.js'
import type { Rpc } from '../rpc/rpc.js'
import type { TonNetworkSettings, TonSettings } from '../settings.js'
import type { JettonRegistry } from '../tokens/jettons.js'
import { findWallet } from '../wallets/walletState.js'
import { findFailedCheck } from './checks.js'
import { type DecodedPayment, decodePayment, readClaimedPayer, readExactProof } from './decode.js'
import { findFailedStateCheck } from './stateChecks.js'

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
}

/** Structure, rules, wallet, signature, seqno, balances. */
export type Prepare = (payment: Payment, options: PrepareOptions) => Promise<Preparation>

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
  ): Promise<{ readonly reason: Reason } | { readonly isDeployed: boolean }> => {
    const payer = decoded.message.wallet
    const [account, jettonWallet] = await Promise.all([
      rpc.readAccount(payer),
      jettons.findWallet(asset, payer),
    ])
    const finding = findWallet(account, decoded.message)
    if ('refusedAs' in finding) return { reason: finding.refusedAs }
    const { wallet } = finding
    const broken = findFailedStateCheck({ decoded, wallet, account, jettonWallet, otherGlobalIds })
    if (broken !== null) return { reason: broken }
    const balance = jettonWallet === null ? 0n : await jettons.readBalance(jettonWallet)
    if (balance < decoded.transfer.amount) return { reason: 'insufficient_jetton_balance' }
    return { isDeployed: wallet.isDeployed }
  }

  return async (payment, { marginSeconds, beforeAsking }) => {
    const reading = readPayment(payment, jettons.isOffered)
    if ('refused' in reading) return reading
    const { decoded, asset } = reading
    const payer = decoded.message.wallet

    const nowSeconds = Math.floor(clock.now().getTime() / 1_000)
    const broken = findFailedCheck({
      decoded,
      payment,
      asset,
      nowSeconds,
      marginSeconds,
      relays,
      relayLimits: family.relayLimits,
    })
    if (broken !== null) return toRefusal(payer, broken)
    beforeAsking?.()
    const answer = await findObstacle(decoded, asset)
    if ('reason' in answer) return toRefusal(payer, answer.reason)
    return { prepared: { decoded, payer, asset, isDeployed: answer.isDeployed } }
  }
}

type PaymentReading =
  | { readonly decoded: DecodedPayment; readonly asset: Address }
  | { readonly refused: Refusal }

/** Structure, and whether the asset is offered. */
export const readPayment = (payment: Payment, isOffered: (master: Address) => boolean): PaymentReading => {
  const reading = readExactProof(payment.proof)
  const claimed = readClaimedPayer(payment.proof)
  const foreign = describeForeignMethod(payment, ownMethod)
  if (foreign !== null) return toRefusal(claimed, 'unsupported_asset_transfer_method', foreign)
  if ('problem' in reading) return toRefusal(claimed, 'invalid_payload_structure', reading.problem)
  const decoding = decodePayment(reading.proof)
  if ('refusedAs' in decoding) return toRefusal(decoding.wallet ?? claimed, decoding.refusedAs)
  const { decoded } = decoding
  const asset = readAddress(payment.requirements.asset)
  return asset === null || !isOffered(asset)
    ? toRefusal(decoded.message.wallet, 'unsupported_asset')
    : { decoded, asset }
}

const ownMethod = { names: ['default'], fields: ['signedBoc', 'settlementBoc'] } as const

export const toRefusal = (payer: Address | null, reason: Reason, message?: string) => ({
  refused: {
    isValid: false,
    payer: payer?.toRawString() ?? null,
    reason,
    ...(message === undefined ? {} : { message }),
  } satisfies Refusal,
})
