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

export interface WalletMessage {
  readonly wallet: Address
  readonly init: StateInit | null
  readonly body: Cell
}

/** Null for any other cell. */
export const readExternalMessage = (cell: Cell): WalletMessage | null =>
  tryParse(() => {
    if (!isLoadable(cell)) return null
    const slice = cell.beginParse()
    const { info, init, body } = loadMessage(slice)
    if (info.type !== 'external-in') return null
    if (!isEmpty(slice) && !slice.asCell().equals(body)) return null
    return { wallet: info.dest, init: init ?? null, body }
  })

/** Null for any other cell. */
export const readInternalMessage = (cell: Cell): WalletMessage | null =>
  tryParse(() => {
    if (!isLoadable(cell)) return null
    const slice = cell.beginParse()
    const { info, init, body } = loadMessageRelaxed(slice)
    if (info.type !== 'internal') return null
    if (!isEmpty(slice) && !slice.asCell().equals(body)) return null
    return { wallet: info.dest, init: init ?? null, body }
  })

interface ExternalMessage {
  /** Base64 bag of cells. */
  readonly bytes: string
  /** Hex hash of the normalized external message (TEP-467). */
  readonly hash: string
}

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
