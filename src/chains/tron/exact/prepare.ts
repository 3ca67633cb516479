import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { formatAddress, type TronAddress } from '../encoding/address.js'
import type { TronNetworkSettings } from '../settings.js'
import { type FailedCheck, findFailedCheck } from './checks.js'
import type { SignedTransfer } from './decode.js'
import { readClaimedPayer, readExactProof } from './payload.js'

export type Preparation = { readonly transfer: SignedTransfer } | { readonly refused: Refusal }

/** Everything without chain access. `marginMs`: minimum remaining validity. */
export type Prepare = (payment: Payment, marginMs: number) => Preparation

export const createPrepare = (
  network: Pick<TronNetworkSettings, 'acceptsAnyToken' | 'maxFeeLimit'>,
  offered: ReadonlySet<TronAddress>,
  clock: Pick<Clock, 'now'>,
): Prepare => {
  const { acceptsAnyToken, maxFeeLimit } = network
  const isOffered = (contract: TronAddress) => acceptsAnyToken || offered.has(contract)
  return (payment, marginMs) => {
    const { proof: untrusted, requirements } = payment
    const foreign = describeForeignMethod(payment, ownMethod)
    if (foreign !== null) {
      const refusal = { reason: 'unsupported_asset_transfer_method', message: foreign } as const
      return { refused: toRefusal(readClaimedPayer(untrusted), refusal) }
    }
    const reading = readExactProof(untrusted)
    if ('reason' in reading) {
      const payer = readClaimedPayer(untrusted)
      return { refused: toRefusal(payer, { reason: reading.reason, message: reading.problem }) }
    }
    const { proof } = reading
    const nowMs = clock.now().getTime()
    const broken = findFailedCheck({ ...proof, requirements, isOffered, maxFeeLimit, nowMs, marginMs })
    const { transfer } = proof
    return broken === null ? { transfer } : { refused: toRefusal(transfer.owner, broken) }
  }
}

const ownMethod = { names: ['default'], fields: ['signedTransaction'] } as const

export const toRefusal = (payer: TronAddress | null, broken: FailedCheck): Refusal => ({
  isValid: false,
  payer: payer === null ? null : formatAddress(payer),
  ...broken,
})
