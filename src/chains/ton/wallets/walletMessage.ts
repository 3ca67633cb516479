import {
  type Address,
  beginCell,
  type Cell,
  external,
  loadMessage,
  loadMessageRelaxed,
  type StateInit,
  storeMessage,
} from '@ton/core'
import { isEmpty, isLoadable, tryParse } from '../encoding/cells.js'

/** A message for a payer's wallet. */
export interface WalletMessage {
  readonly wallet: Address
  /** Code and data, for a wallet that is not deployed. */
  readonly init: StateInit | null
  readonly body: Cell
}

/** Reads a message from outside; null for any other cell. */
export const readExternalMessage = (cell: Cell): WalletMessage | null =>
  tryParse(() => {
    if (!isLoadable(cell)) return null
    const slice = cell.beginParse()
    const { info, init, body } = loadMessage(slice)
    if (info.type !== 'external-in') return null
    if (!isEmpty(slice) && !slice.asCell().equals(body)) return null
    return { wallet: info.dest, init: init ?? null, body }
  })

/** Reads a message as one contract sends it to another; null for any other cell. */
export const readInternalMessage = (cell: Cell): WalletMessage | null =>
  tryParse(() => {
    if (!isLoadable(cell)) return null
    const slice = cell.beginParse()
    const { info, init, body } = loadMessageRelaxed(slice)
    if (info.type !== 'internal') return null
    if (!isEmpty(slice) && !slice.asCell().equals(body)) return null
    return { wallet: info.dest, init: init ?? null, body }
  })

/** A message from outside as it is sent, and the name that it goes by. */
export interface ExternalMessage {
  /** A bag of cells in base64. */
  readonly bytes: string
  /** In hex: the hash of the message in its one normal form (TEP-467), however it is written. */
  readonly hash: string
}

/** Writes a message from outside. */
export const writeExternalMessage = ({ wallet, init, body }: WalletMessage): ExternalMessage => {
  const write = (carried: StateInit | null) =>
    beginCell()
      .store(
        storeMessage(external({ to: wallet, body, ...(carried === null ? {} : { init: carried }) }), {
          forceRef: true,
        }),
      )
      .endCell()
  return { bytes: write(init).toBoc().toString('base64'), hash: write(null).hash().toString('hex') }
}
