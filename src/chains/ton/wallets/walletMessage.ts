import {
  type Address,
  beginCell,
  type Cell,
  external,
  loadMessage,
  loadMessageRelaxed,
  type Slice,
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

export type RequestLayout = 'v3' | 'v4' | 'v5'

interface OrderedMessage {
  readonly mode: number
  readonly destination: Address
  readonly nanoTon: bigint
  readonly body: Cell
  /** Bounceable, without state init, explicit source or explicit fees. */
  readonly isStandardTransfer: boolean
}

export interface WalletRequest {
  readonly layout: RequestLayout
  /** W5: signed for an internal message (`sint`), not an external one (`sign`). */
  readonly isForRelay: boolean
  readonly walletId: number
  readonly validUntil: number
  readonly seqno: number
  readonly signature: Buffer
  readonly signedHash: Buffer
  readonly message: OrderedMessage
}

const externalRequest = 0x7369676e
const relayedRequest = 0x73696e74
const sendMessageAction = 0x0ec3c86d
const signatureBits = 512

// With exactly one message the bit lengths of the versions differ.
const layouts: ReadonlyMap<number, RequestLayout> = new Map([
  [signatureBits + 104, 'v3'],
  [signatureBits + 112, 'v4'],
  [signatureBits + 130, 'v5'],
])

/** Null unless the body requests exactly one message. */
export const readWalletRequest = (body: Cell): WalletRequest | null => {
  const layout = layouts.get(body.bits.length)
  if (layout === undefined || body.refs.length !== 1) return null
  return tryParse(() => (layout === 'v5' ? readSignatureLast(body) : readSignatureFirst(body, layout)))
}

/** Signature, wallet id, valid until, seqno, (operation,) mode, message. */
const readSignatureFirst = (body: Cell, layout: 'v3' | 'v4'): WalletRequest | null => {
  const slice = body.beginParse()
  const signature = slice.loadBuffer(signatureBits / 8)
  const signedHash = slice.asCell().hash()
  const fields = { walletId: slice.loadUint(32), validUntil: slice.loadUint(32), seqno: slice.loadUint(32) }
  // Plugin operations are refused.
  if (layout === 'v4' && slice.loadUint(8) !== 0) return null
  const message = readMessage(slice.loadUint(8), slice.loadRef())
  return message && { layout, isForRelay: false, ...fields, signature, signedHash, message }
}

/** Operation, wallet id, valid until, seqno, actions, signature. */
const readSignatureLast = (body: Cell): WalletRequest | null => {
  const slice = body.beginParse()
  const operation = slice.loadUint(32)
  if (operation !== externalRequest && operation !== relayedRequest) return null
  const fields = { walletId: slice.loadUint(32), validUntil: slice.loadUint(32), seqno: slice.loadUint(32) }
  const actions = slice.loadMaybeRef()
  const hasExtendedActions = slice.loadBit()
  if (actions === null || hasExtendedActions) return null
  const signedBits = body.bits.substring(0, body.bits.length - signatureBits)
  const signedHash = beginCell().storeBits(signedBits).storeRef(actions).endCell().hash()
  const signature = slice.loadBuffer(signatureBits / 8)
  const message = readOnlyAction(actions.beginParse())
  const isForRelay = operation === relayedRequest
  return message && { layout: 'v5', isForRelay, ...fields, signature, signedHash, message }
}

const readOnlyAction = (list: Slice): OrderedMessage | null => {
  const before = list.loadRef()
  if (before.bits.length > 0 || before.refs.length > 0) return null
  if (list.loadUint(32) !== sendMessageAction) return null
  const message = readMessage(list.loadUint(8), list.loadRef())
  return isEmpty(list) ? message : null
}

const readMessage = (mode: number, cell: Cell): OrderedMessage | null => {
  if (!isLoadable(cell)) return null
  const slice = cell.beginParse()
  const { info, init, body } = loadMessageRelaxed(slice)
  if (info.type !== 'internal') return null
  // An inline body is the rest of the cell; after a referenced body nothing may follow.
  const isWhole = isEmpty(slice) || slice.asCell().equals(body)
  // The network charges the higher of computed and explicit fees.
  const hasOwnFees = !info.ihrDisabled || info.ihrFee !== 0n || info.forwardFee !== 0n
  const isFromWallet = info.src == null && init == null
  const isStandardTransfer = isWhole && info.bounce && !info.bounced && isFromWallet && !hasOwnFees
  return { mode, destination: info.dest, nanoTon: info.value.coins, body, isStandardTransfer }
}
