import type { Address, Cell } from '@ton/core'
import { isAnycast, isEmpty, tryParse } from '../encoding/cells.js'

/** Operation `transfer` (TEP-74). */
const transferOperation = 0x0f8a7ea5

/** Operation `internal_transfer` (TEP-74). */
const internalTransferOperation = 0x178d4519

export interface JettonTransfer {
  readonly queryId: bigint
  readonly amount: bigint
  readonly destination: Address
  /** Receives excess TON; null: it stays in the jetton wallet. */
  readonly responseDestination: Address | null
  readonly hasCustomPayload: boolean
  readonly forwardNanoTon: bigint
  readonly forwardPayload: Cell
}

/** Null for any other body. */
export const readJettonTransfer = (body: Cell): JettonTransfer | null =>
  tryParse(() => {
    const slice = body.beginParse()
    if (slice.loadUint(32) !== transferOperation) return null
    const queryId = slice.loadUintBig(64)
    const amount = slice.loadCoins()
    if (isAnycast(slice)) return null
    const destination = slice.loadAddress()
    if (isAnycast(slice)) return null
    const transfer = {
      queryId,
      amount,
      destination,
      responseDestination: slice.loadMaybeAddress(),
      hasCustomPayload: slice.loadMaybeRef() !== null,
      forwardNanoTon: slice.loadCoins(),
    }
    const isReferenced = slice.loadBit()
    const forwardPayload = isReferenced ? slice.loadRef() : slice.asCell()
    return isReferenced && !isEmpty(slice) ? null : { ...transfer, forwardPayload }
  })

/** Amount of an internal_transfer; null for any other body. */
export const readCreditedAmount = (body: Cell): bigint | null =>
  tryParse(() => {
    const slice = body.beginParse()
    return slice.loadUint(32) === internalTransferOperation ? slice.skip(64).loadCoins() : null
  })
