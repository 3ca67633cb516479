import type { Address, Cell } from '@ton/core'
import { isEmpty, tryParse } from '../encoding/cells.js'

/** The operation of a transfer that a jetton wallet is asked for by its owner (TEP-74). */
export const transferOperation = 0x0f8a7ea5

/** The operation by which one jetton wallet credits another (TEP-74). */
export const internalTransferOperation = 0x178d4519

/** A transfer of jettons as its owner's wallet orders it. */
export interface JettonTransfer {
  readonly queryId: bigint
  readonly amount: bigint
  readonly destination: Address
  /** Where the TON that is left goes; null: it stays. */
  readonly responseDestination: Address | null
  readonly hasCustomPayload: boolean
  readonly forwardNanoTon: bigint
  readonly forwardPayload: Cell
}

/** Reads a transfer; null for any other body. */
export const readJettonTransfer = (body: Cell): JettonTransfer | null =>
  tryParse(() => {
    const slice = body.beginParse()
    if (slice.loadUint(32) !== transferOperation) return null
    const transfer = {
      queryId: slice.loadUintBig(64),
      amount: slice.loadCoins(),
      destination: slice.loadAddress(),
      responseDestination: slice.loadMaybeAddress(),
      hasCustomPayload: slice.loadMaybeRef() !== null,
      forwardNanoTon: slice.loadCoins(),
    }
    const isReferenced = slice.loadBit()
    const forwardPayload = isReferenced ? slice.loadRef() : slice.asCell()
    return isReferenced && !isEmpty(slice) ? null : { ...transfer, forwardPayload }
  })

/** The amount that an internal transfer credits; null for any other body. */
export const readCreditedAmount = (body: Cell): bigint | null =>
  tryParse(() => {
    const slice = body.beginParse()
    return slice.loadUint(32) === internalTransferOperation ? slice.skip(64).loadCoins() : null
  })
